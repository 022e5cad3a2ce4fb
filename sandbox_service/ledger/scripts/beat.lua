#!lua flags=allow-oom
-- A worker lives. ARGV: name, worker, busy, ready slots. Returns {'ok', need ×3, ids to cancel} or {'unknown'}. The ids
-- stay where they are until the worker says what became of them.

local worker = ARGV[2]
if call('SISMEMBER', WORKERS, worker) == 0 then
  return {'unknown'}
end
call('HSET', WORKER .. worker, 'busy', ARGV[3], 'ready_slots', ARGV[4])
call('HINCRBY', BEATS, worker, 1)
local waiting, workers, slots = need()
return {'ok', waiting, workers, slots, unpack(call('SMEMBERS', CANCEL .. worker))}
