#!lua flags=allow-oom
-- Registers a worker. ARGV: name, worker, info, slots. Registering again replaces the figures.

local key = WORKER .. ARGV[2]
local row = call('HMGET', key, 'slots', 'idle')
local before = number(row[1])
note_idle(ARGV[2], number(row[2]), 0)
call('HSET', key, 'info', ARGV[3], 'slots', ARGV[4], 'busy', 0, 'ready_slots', 0)
call('HINCRBY', BEATS, ARGV[2], 1)
call('SADD', WORKERS, ARGV[2])
call('INCRBY', SLOTS, ARGV[4] - before)
return 0
