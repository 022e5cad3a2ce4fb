#!lua
-- Takes submissions, all or none. ARGV: name, api, three bounds, seconds that an answer is kept, how many clients are
-- named with three figures of what they will submit in further calls, these, how many kinds of entries there are, what
-- they are about, then eight values for each entry: kind, id, digest, body, bytes, key of the cache, labels, whether it
-- is kept. It is refused as a whole when memory is full.
--
-- Returns {'ok', need ×3, a letter for each entry, the answers of those that have one}, {'reused', index} or {'full',
-- …}.

local api = ARGV[2]
local bounds = {number(ARGV[3]), number(ARGV[4]), number(ARGV[5])}
local seconds, at, new, later = ARGV[6], 8, {}, {}
for _ = 1, number(ARGV[7]) do
  later[ARGV[at]] = {number(ARGV[at + 1]), number(ARGV[at + 2]), number(ARGV[at + 3])}
  at = at + 4
end
local kinds = {}
for each = 1, number(ARGV[at]) do
  local text = ARGV[at + each]
  kinds[each] = {text = text, what = about(text)}
end
local first, width = at + 1 + #kinds, 8
local entries = (#ARGV - first + 1) / width
local letters, answers, joined, copies = {}, {}, {}, {}

-- Which letter an entry has: New, Joined, Answered, Cached (small, if it was so before); nil if its id was used for
-- another body.
local LETTERS = {G = 'A', C = 'c'}

-- Most are new, and one question for all is cheaper than one for each.
local keys = {}
for base = first, #ARGV, width do
  keys[#keys + 1] = RES .. ARGV[base + 1]
  keys[#keys + 1] = SUB .. ARGV[base + 1]
end
local some_are_known = #keys > 0 and call('EXISTS', unpack(keys)) > 0

local function classify(each, base)
  local id, digest = ARGV[base + 1], ARGV[base + 2]
  if some_are_known and call('EXISTS', RES .. id, SUB .. id) > 0 then
    local result = sound(try('GET', RES .. id))
    local letter = result and LETTERS[string.sub(result, 1, 1)]
    if letter then
      answers[#answers + 1] = result
      return string.sub(result, 2, 17) == digest and letter or nil
    end
    call('DEL', RES .. id)  -- a fault, or nothing of ours
    local sub = read(id)
    if sub then
      joined[each] = sub
      return sub.digest == digest and 'J' or nil
    end
    call('DEL', SUB .. id)
  end
  local cache = ARGV[base + 5]
  if cache ~= '' then
    local answer = sound(try('GET', CACHE .. cache))
    if answer then
      answers[#answers + 1] = answer
      copies[each] = 'C' .. digest .. string.sub(answer, 18)
      return 'C'
    end
  end
  return 'N'
end

local news, base = 0, first
for each = 1, entries do
  local letter = classify(each, base)
  if not letter then
    return {'reused', each - 1}
  end
  letters[each] = letter
  if letter == 'N' then
    local what = kinds[number(ARGV[base])].what
    local sum = new[what.client]
    if not sum then
      sum = {0, 0, 0}
      new[what.client] = sum
    end
    sum[1], sum[2], sum[3] = sum[1] + 1, sum[2] + ARGV[base + 4], sum[3] + what.cost
    news = news + 1
  end
  base = base + width
end

-- What is still to come is taken to be as new as what is here: one who repeats what is pending needs no room for it.
for client, sum in pairs(new) do
  local wanted, more = {sum[1], sum[2], sum[3]}, later[client]
  for each = 1, more and 3 or 0 do
    wanted[each] = math.ceil(wanted[each] + more[each] * news / entries)
  end
  local refusal = over(client, wanted, bounds)
  if refusal then
    return refusal
  end
end

local time = exact(clock())
local scores, lists = {}, {}

local function enter(base)
  local kind, id = kinds[number(ARGV[base])], ARGV[base + 1]
  local client, priority = kind.what.client, kind.what.priority
  local fields = {
    'digest', ARGV[base + 2], 'body', ARGV[base + 3], 'about', kind.text, 'bytes', ARGV[base + 4], 'taken', time,
  }
  local function optional(field, value)
    if value ~= '' then
      fields[#fields + 1] = field
      fields[#fields + 1] = value
    end
  end
  optional('cache', ARGV[base + 5])
  optional('labels', ARGV[base + 6])
  optional('keep', ARGV[base + 7])
  optional('apis', api)
  call('HSET', SUB .. id, unpack(fields))
  scores[#scores + 1] = time
  scores[#scores + 1] = id
  local list = lists[priority .. client]
  if not list then
    list = {priority = priority, client = client, ids = {}}
    lists[priority .. client] = list
    lists[#lists + 1] = list
  end
  list.ids[#list.ids + 1] = id
end

base = first
for each = 1, entries do
  local letter = letters[each]
  if letter == 'N' then
    enter(base)
  elseif letter == 'J' then
    local id = ARGV[base + 1]
    if not attach(id, joined[each], api) then
      letters[each] = 'j'  -- this API process waits for it already
    end
    if ARGV[base + 7] == '1' then
      call('HSET', SUB .. id, 'keep', '1')
    end
  elseif letter == 'C' then
    call('SET', RES .. ARGV[base + 1], copies[each], 'EX', seconds)
    tally('cached', 1)
  end
  base = base + width
end

if news > 0 then
  call('ZADD', PENDING, unpack(scores))
  for _, list in ipairs(lists) do
    enqueue('RPUSH', list.priority, list.client, list.ids)
  end
  for client, sum in pairs(new) do
    account(client, sum[1], sum[2], sum[3])
  end
  waiting_change = news
end
close_books()
local waiting, workers, slots = need()
return {'ok', waiting, workers, slots, table.concat(letters), unpack(answers)}
