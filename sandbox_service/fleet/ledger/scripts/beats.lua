#!lua flags=no-writes
-- Reads the beats of all workers. ARGV: name. Returns name and number of beats of each.

return call('HGETALL', BEATS)
