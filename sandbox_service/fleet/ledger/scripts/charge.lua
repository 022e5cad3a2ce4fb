#!lua
-- Raises the levels of an API key's quotas and returns them. ARGV: name, the key's name, what it has used of each quota,
-- and each quota: by how much its level falls in a minute; 0: there is none. See queues/quotas.py.

local key, now = PREFIX .. 'quota:' .. ARGV[2], clock()
local FIELDS = {'submissions', 'slot_seconds'}
local row = sound(try('HMGET', key, 'at', FIELDS[1], FIELDS[2])) or {}
local since, found, seconds = math.max(0, now - number(row[1])), {}, 1  -- a clock that was set back gives no time
for each = 1, 2 do
  local quota, level = number(ARGV[4 + each]), 0
  if quota > 0 then
    level = math.max(0, number(row[1 + each]) - quota * since / 60) + number(ARGV[2 + each])
    seconds = math.max(seconds, level * 60 / quota)
  end
  found[each] = string.format('%.6f', level)
end
if not row[1] then
  call('DEL', key)  -- or not written by the ledger
end
call('HSET', key, 'at', exact(now), FIELDS[1], found[1], FIELDS[2], found[2])
call('EXPIRE', key, string.format('%.0f', math.ceil(seconds)))
return found
