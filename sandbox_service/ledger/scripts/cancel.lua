#!lua flags=allow-oom
-- Cancels by id, whoever waits: they are answered at once, and the holder, if there is one, is told with its next beat.
-- ARGV: name, seconds that the answer is kept, then id and answer of each. It is kept as a fault: an API process that
-- missed it on its stream finds it, and the id may be submitted again. Returns those that were pending.

local struck = {}
for each = 3, #ARGV, 2 do
  local id = ARGV[each]
  local sub = read(id)
  if sub then
    publish(id, sub, ARGV[each + 1], ARGV[2])
    strike(id, sub)
    if sub.holder ~= '' and sub.holder ~= REAPER then
      call('SADD', CANCEL .. sub.holder, id)
    end
    struck[#struck + 1] = id
  end
end
close_books()
return struck
