#!lua flags=no-writes
-- Looks ids up. ARGV: name, ids. Returns for each its stored answer, 1 if it is pending, 0 if it is unknown.

local found = {}
for each = 2, #ARGV do
  found[#found + 1] = sound(try('GET', RES .. ARGV[each])) or call('EXISTS', SUB .. ARGV[each])
end
return found
