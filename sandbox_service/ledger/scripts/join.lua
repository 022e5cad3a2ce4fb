#!lua flags=allow-oom
-- One more API process waits for a submission. ARGV: name, id, api. Returns as look.lua does for one.

local id = ARGV[2]
local result = sound(try('GET', RES .. id))
if result then
  return result
end
local sub = read(id)
if not sub then
  return 0
end
attach(id, sub, ARGV[3])
return 1
