#!lua flags=no-writes
-- What is known of ids. ARGV: name, ids. Returns for each: what is stored as its result, 1 if it is pending, 0 if it is
-- gone.

local found = {}
for each = 2, #ARGV do
  found[#found + 1] = sound(try('GET', RES .. ARGV[each])) or call('EXISTS', SUB .. ARGV[each])
end
return found
