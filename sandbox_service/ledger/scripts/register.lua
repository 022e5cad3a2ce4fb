#!lua flags=allow-oom
-- A worker is there. ARGV: name, worker, info, slots. Again means anew: figures are replaced, not added.

local key = WORKER .. ARGV[2]
local before = number(call('HGET', key, 'slots'))
call('HSET', key, 'info', ARGV[3], 'slots', ARGV[4], 'busy', 0, 'ready_slots', 0)
call('HINCRBY', BEATS, ARGV[2], 1)
call('SADD', WORKERS, ARGV[2])
call('INCRBY', SLOTS, ARGV[4] - before)
return 0
