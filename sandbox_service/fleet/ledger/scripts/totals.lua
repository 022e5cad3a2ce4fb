#!lua flags=no-writes
-- Reads the ledger in figures. ARGV: name. Returns count, waiting, bytes, cost, the oldest's age in seconds, clients,
-- event counts, workers.

local row = call('HMGET', LOAD, 'count', 'bytes', 'cost')
local oldest = call('ZRANGE', PENDING, 0, 0, 'WITHSCORES')
local age = oldest[2] and math.max(0, clock() - oldest[2] / 1000) or 0
return {
  number(row[1]), number(call('GET', WAITING)), number(row[2]), number(row[3]), exact(age), call('SCARD', CLIENTS),
  call('HGETALL', STATS), call('SCARD', WORKERS),
}
