#!lua flags=allow-oom
-- Notes that a process uses this ledger. ARGV: name, its format (see formats.py), seconds after which a format that no
-- process uses is forgotten, unless something is pending, which may be written in it.

local key, now = PREFIX .. 'formats', clock()
call('ZADD', key, exact(now), ARGV[2])
if call('EXISTS', PENDING) == 0 then
  call('ZREMRANGEBYSCORE', key, '-inf', exact(now - number(ARGV[3])))
end
return 0
