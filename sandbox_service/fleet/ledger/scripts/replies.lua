#!lua flags=allow-oom
-- Keeps the stream of an API process for so long, or makes it. ARGV: name, api, seconds. Returns 1 if it existed.

local key = REPLIES .. ARGV[2]
local there = call('EXISTS', key)
if there == 0 then
  call('XADD', key, '*', '', '')
  call('XTRIM', key, 'MAXLEN', 0)  -- an empty stream stays
end
call('EXPIRE', key, ARGV[3])
return there
