#!lua
-- Takes submissions, all or none. ARGV: name, api, three bounds, seconds that an answer is kept, how many clients are named with three figures of what
-- they will submit in further calls, these, then twelve values for each entry. It is refused as a whole when memory is
-- full.
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
local first, width = at, 12
local entries = (#ARGV - first + 1) / width
local letters, answers, joined, copies = {}, {}, {}, {}

-- Which letter an entry has: New, Joined, Answered, Cached (small, if it was so before); nil if its id was used for
-- another body.
local LETTERS = {G = 'A', C = 'c'}

local function classify(each, base)
  local id, digest = ARGV[base], ARGV[base + 1]
  if call('EXISTS', RES .. id, SUB .. id) > 0 then
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
  local cache = ARGV[base + 8]
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
    local sum = new[ARGV[base + 4]]
    if not sum then
      sum = {0, 0, 0}
      new[ARGV[base + 4]] = sum
    end
    sum[1], sum[2], sum[3] = sum[1] + 1, sum[2] + #ARGV[base + 2] + number(ARGV[base + 11]), sum[3] + ARGV[base + 6]
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
  local id, client, priority = ARGV[base], ARGV[base + 4], ARGV[base + 5]
  local fields = {
    'digest', ARGV[base + 1], 'body', ARGV[base + 2], 'suite', ARGV[base + 3], 'client', client, 'priority', priority,
    'cost', ARGV[base + 6], 'tests', ARGV[base + 7], 'taken', time,
  }
  local function optional(field, value)
    if value ~= '' then
      fields[#fields + 1] = field
      fields[#fields + 1] = value
    end
  end
  optional('cache', ARGV[base + 8])
  optional('labels', ARGV[base + 9])
  optional('keep', ARGV[base + 10])
  optional('own', ARGV[base + 11])
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
    if not attach(ARGV[base], joined[each], api) then
      letters[each] = 'j'  -- this API process waits for it already
    end
    if ARGV[base + 10] == '1' then
      call('HSET', SUB .. ARGV[base], 'keep', '1')
    end
  elseif letter == 'C' then
    call('SET', RES .. ARGV[base], copies[each], 'EX', seconds)
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
