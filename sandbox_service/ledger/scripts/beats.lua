#!lua flags=no-writes
-- How often each worker has beaten. ARGV: name. Returns name and number of each.

return call('HGETALL', BEATS)
