#!lua
-- Takes submissions, all or none, within the bounds that bounds/ specifies. ARGV: name, api, three bounds, seconds
-- that an answer is kept; the number of clients with further entries in later calls, and for each its name and three
-- figures; the number of kinds of entries, and for each its terms (`about`) and 1 if it is kept; then five values for
-- each entry: kind, id, digest, body, bytes. Redis refuses the whole call when memory is full.
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

-- What entries of one kind share: their terms, the sum of the new entries of their client, the list where they wait.
local kinds, lists = {}, {}
for each = 1, number(ARGV[at]) do
  local text, keep = ARGV[at + 2 * each - 1], ARGV[at + 2 * each] == '1'
  local what = about(text)
  local name = what.priority .. what.client
  new[what.client] = new[what.client] or {0, 0, 0}
  lists[name] = lists[name] or {priority = what.priority, client = what.client, ids = {}}
  kinds[each] = {text = text, what = what, keep = keep, sum = new[what.client], ids = lists[name].ids}
end
local first, width = at + 1 + 2 * #kinds, 5
local entries = (#ARGV - first + 1) / width
local letters, answers, joined, copies = {}, {}, {}, {}

-- The letter of an entry: New, Joined, Answered, Cached (small if it was so before); nil if its id was used for another
-- body.
local LETTERS = {G = 'A', C = 'c'}

-- Most are new, and one EXISTS for all is cheaper than one for each.
local keys, of_kind = {}, {}
for each = 1, entries do
  local base = first + width * (each - 1)
  of_kind[each] = kinds[number(ARGV[base])]
  keys[2 * each - 1] = SUB .. ARGV[base + 1]
  keys[2 * each] = RES .. ARGV[base + 1]
end
local some_are_known = entries > 0 and call('EXISTS', unpack(keys)) > 0

local function classify(each, base)
  local digest, key, answer_key = ARGV[base + 2], keys[2 * each - 1], keys[2 * each]
  if some_are_known and call('EXISTS', key, answer_key) > 0 then
    local result = sound(try('GET', answer_key))
    local letter = result and LETTERS[string.sub(result, 1, 1)]
    if letter then
      answers[#answers + 1] = result
      return string.sub(result, 2, 17) == digest and letter or nil
    end
    call('DEL', answer_key)  -- a fault, or not written by the ledger
    local sub = read(ARGV[base + 1])
    if sub then
      joined[each] = sub
      return sub.digest == digest and 'J' or nil
    end
    call('DEL', key)
  end
  local place = shared(digest, of_kind[each].what)
  if place then
    local answer = sound(try('GET', place))
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
    local kind = of_kind[each]
    local sum = kind.sum
    sum[1], sum[2], sum[3] = sum[1] + 1, sum[2] + ARGV[base + 4], sum[3] + kind.what.cost
    news = news + 1
  end
  base = base + width
end

-- Of the entries of later calls the same share counts as new as of these: repeating pending submissions needs no room.
for client, sum in pairs(new) do
  local wanted, more = {sum[1], sum[2], sum[3]}, later[client]
  for each = 1, more and 3 or 0 do
    wanted[each] = math.ceil(wanted[each] + more[each] * news / entries)
  end
  local refusal = sum[1] > 0 and over(client, wanted, bounds)
  if refusal and have_cleared_counts() then
    refusal = over(client, wanted, bounds)
  end
  if refusal then
    return refusal
  end
end

local now = clock()
local time, score = exact(now), string.format('%.0f', now * 1000)
local scores = {}

local function enter(key, kind, id, digest, body, bytes)
  call('HSET', key, 'digest', digest, 'body', body, 'bytes', bytes, 'about', kind.text, 'taken', time, 'apis', api)
  if kind.keep then
    call('HSET', key, 'keep', '1')
  end
  kind.ids[#kind.ids + 1] = id
  scores[#scores + 1] = score
  scores[#scores + 1] = id
end

base = first
for each = 1, entries do
  local kind, id, letter = of_kind[each], ARGV[base + 1], letters[each]
  if letter == 'N' then
    enter(keys[2 * each - 1], kind, id, ARGV[base + 2], ARGV[base + 3], ARGV[base + 4])
  elseif letter == 'J' then
    if not attach(id, joined[each], api) then
      letters[each] = 'j'  -- this API process waits for it already
    end
    if kind.keep then
      call('HSET', keys[2 * each - 1], 'keep', '1')
    end
  elseif letter == 'C' then
    call('SET', keys[2 * each], copies[each], 'EX', seconds)
    tally('cached', 1)
  end
  base = base + width
end

if news > 0 then
  call('ZADD', PENDING, unpack(scores))
  for _, list in pairs(lists) do
    if #list.ids > 0 then
      enqueue('RPUSH', list.priority, list.client, list.ids)
    end
  end
  for client, sum in pairs(new) do
    if sum[1] > 0 then
      account(client, sum[1], sum[2], sum[3])
    end
  end
  waiting_change = news
end
write_counts()
local waiting, workers, slots = need()
return {'ok', waiting, workers, slots, table.concat(letters), unpack(answers)}
