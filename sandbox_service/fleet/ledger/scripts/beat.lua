#!lua flags=allow-oom
-- Notes that a worker lives. ARGV: name, worker, busy, ready slots, idle slots.
-- Returns {'ok', need ×3, idle slots of all workers, priority of the next claim, ids to cancel} or {'unknown'}. The ids
-- are returned again until the worker settles them with steps.lua.

local worker = ARGV[2]
if call('SISMEMBER', WORKERS, worker) == 0 then
  return {'unknown'}
end
note_idle(worker, number(call('HGET', WORKER .. worker, 'idle')), number(ARGV[5]))
call('HSET', WORKER .. worker, 'busy', ARGV[3], 'ready_slots', ARGV[4])
call('HINCRBY', BEATS, worker, 1)
local waiting, workers, slots = need()
local urgent = waiting > 0 and most_urgent() or 3
return {'ok', waiting, workers, slots, number(call('GET', IDLE)), urgent, unpack(call('SMEMBERS', CANCEL .. worker))}
