#!lua flags=no-writes
-- Reads workers. ARGV: name, workers. Returns seven values for each that is registered.

local found = {}
for each = 2, #ARGV do
  local worker = ARGV[each]
  local row = call('HMGET', WORKER .. worker, 'info', 'slots', 'busy', 'ready_slots')
  if row[2] then
    found[#found + 1] = worker
    found[#found + 1] = row[1] or '{}'
    for figure = 2, 4 do
      found[#found + 1] = number(row[figure])
    end
    found[#found + 1] = number(call('HGET', BEATS, worker))
    found[#found + 1] = call('SCARD', HELD .. worker)
  end
end
return found
