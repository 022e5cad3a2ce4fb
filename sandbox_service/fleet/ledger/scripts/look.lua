#!lua flags=no-writes
-- Looks ids up. ARGV: name, ids. Returns for each its stored answer, 1 if it is pending, 0 if it is unknown. Most are
-- pending, so all are looked up together, and one by one only if some are neither.

local answer_keys = {}
for each = 2, #ARGV do
  answer_keys[each - 1] = RES .. ARGV[each]
end
local found, keys = call('MGET', unpack(answer_keys)), {}
for each, answer in ipairs(found) do
  keys[#keys + 1] = not answer and SUB .. ARGV[each + 1] or nil
end
local are_pending = #keys > 0 and call('EXISTS', unpack(keys)) == #keys
for each, answer in ipairs(found) do
  found[each] = answer or (are_pending and 1) or call('EXISTS', SUB .. ARGV[each + 1])
end
return found
