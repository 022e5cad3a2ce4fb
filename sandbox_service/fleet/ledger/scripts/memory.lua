#!lua flags=allow-oom
-- Finds out when this Redis may have lost data: it was emptied, restarted, or replaced by another.
-- ARGV: name, an id for the data if they have none, the id that the caller has seen or nothing. Returns the id of the
-- data, and how many seconds ago they may have been lost; -1 if no loss is known.

local key = PREFIX .. 'memory'
local run = string.match(call('INFO', 'server'), 'run_id:(%x+)')
local row = sound(try('HMGET', key, 'id', 'run', 'lost')) or {}
local id, lost, now = row[1], row[3], clock()
if not id then
  id, lost = ARGV[2], ARGV[3] ~= '' and exact(now) or '0'
elseif row[2] ~= run or (lost == '0' and ARGV[3] ~= '' and ARGV[3] ~= id) then
  lost = exact(now)
else
  return {id, lost == '0' and '-1' or exact(now - number(lost))}
end
call('DEL', key)
call('HSET', key, 'id', id, 'run', run, 'lost', lost)
return {id, lost == '0' and '-1' or '0'}
