#!lua flags=allow-oom
-- Takes or keeps the lock of the process that reaps. ARGV: name, process, milliseconds. Returns 1 if it has the lock.

local key = PREFIX .. 'lead'
local holder = sound(try('GET', key))
if holder and holder ~= ARGV[2] then
  local left = call('PTTL', key)
  if left >= 0 and left <= number(ARGV[3]) then
    return 0
  end
  -- the clock of Redis was set back, or another program wrote it: it would outlast its process
end
call('SET', key, ARGV[2], 'PX', ARGV[3])
return 1
