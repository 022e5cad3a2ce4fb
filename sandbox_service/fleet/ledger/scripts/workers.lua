#!lua flags=no-writes
-- Reads workers. ARGV: name, workers. Returns five values for each that is registered: name, info, slots, busy slots,
-- ready slots.

local found = {}
for each = 2, #ARGV do
  local row = call('HMGET', WORKER .. ARGV[each], 'info', 'slots', 'busy', 'ready_slots')
  if row[2] then
    local at = #found
    found[at + 1], found[at + 2] = ARGV[each], row[1] or '{}'
    for figure = 2, 4 do
      found[at + 1 + figure] = number(row[figure])
    end
  end
end
return found
