#!lua flags=allow-oom
-- Adds an API process that waits for a submission. ARGV: name, id, api. Returns what look.lua returns for one id.

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
