#!lua flags=allow-oom
-- Adds an API process that waits for a submission. ARGV: name, id, api, the mark that its digest must end with (empty:
-- any). Returns what look.lua returns for one id; with another mark, the same as for an unknown id.

local id, mark = ARGV[2], ARGV[4]

local function is_marked(digest)
  return mark == '' or string.sub(digest, -string.len(mark)) == mark
end

local result = sound(try('GET', RES .. id))
if result then
  return is_marked(string.sub(result, 2, 17)) and result or 0
end
local sub = read(id)
if not sub or not is_marked(sub.digest) then
  return 0
end
attach(id, sub, ARGV[3])
return 1
