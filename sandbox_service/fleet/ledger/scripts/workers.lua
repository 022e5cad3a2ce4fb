#!lua flags=no-writes
-- Reads all workers. ARGV: name. Returns seven values for each.

local found = {}
for _, worker in ipairs(call('SMEMBERS', WORKERS)) do
  local row = call('HMGET', WORKER .. worker, 'info', 'slots', 'busy', 'ready_slots')
  found[#found + 1] = worker
  found[#found + 1] = row[1] or '{}'
  for each = 2, 4 do
    found[#found + 1] = number(row[each])
  end
  found[#found + 1] = number(call('HGET', BEATS, worker))
  found[#found + 1] = call('SCARD', HELD .. worker)
end
return found
