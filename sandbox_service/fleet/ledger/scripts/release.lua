#!lua flags=allow-oom
-- Removes an API process from those that wait for submissions. ARGV: name, api, 1 to release kept ones too, ids. What
-- no process waits for is cancelled: at once if it waits, otherwise its holder learns it with the next beat.

local api, all = ARGV[2], ARGV[3] == '1'

local function detach(id, sub)
  local left = {}
  for _, each in ipairs(words(sub.apis)) do
    if each ~= api then
      left[#left + 1] = each
    end
  end
  sub.apis = table.concat(left, ' ')
  if sub.apis == '' then
    call('HDEL', SUB .. id, 'apis')
  else
    call('HSET', SUB .. id, 'apis', sub.apis)
  end
end

for each = 4, #ARGV do
  local id = ARGV[each]
  local sub = read(id)
  if sub then
    detach(id, sub)
    if sub.apis == '' and (all or not sub.keep) then
      if sub.holder == '' then
        strike(id, sub)
      elseif sub.holder ~= REAPER then
        call('HDEL', SUB .. id, 'keep')
        call('SADD', CANCEL .. sub.holder, id)
      end
    end
  end
end
write_counts()
return 0
