#!lua flags=allow-oom
-- Cancels by id, for all who wait: answers at once, and tells the holder with its next beat. ARGV: name, seconds that
-- the answer is kept, then id and answer of each. The answer is kept as a fault: an API process that missed it on its
-- stream finds it, and the id may be submitted again. Returns the ids that were pending.

local cancelled = {}
for each = 3, #ARGV, 2 do
  local id = ARGV[each]
  local sub = read(id)
  if sub then
    publish(id, sub, with_digest(sub, ARGV[each + 1]), ARGV[2])
    strike(id, sub)
    if sub.holder ~= '' and sub.holder ~= REAPER then
      call('SADD', CANCEL .. sub.holder, id)
    end
    cancelled[#cancelled + 1] = id
  end
end
write_counts()
return cancelled
