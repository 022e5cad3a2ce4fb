#!lua flags=allow-oom
-- Takes or keeps a lock. ARGV: name, who, milliseconds. Returns whether it is theirs.

local key = PREFIX .. 'lead'
local holder = sound(try('GET', key))
if holder and holder ~= ARGV[2] then
  return 0
end
call('SET', key, ARGV[2], 'PX', ARGV[3])
return 1
