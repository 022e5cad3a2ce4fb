#!lua flags=allow-oom
-- Takes or keeps the lock of the process that reaps. ARGV: name, process, milliseconds. Returns 1 if it has the lock.

local key = PREFIX .. 'lead'
local holder = sound(try('GET', key))
if holder and holder ~= ARGV[2] then
  return 0
end
call('SET', key, ARGV[2], 'PX', ARGV[3])
return 1
