-- What all scripts share: the names of the keys, the books, and how a submission is read, sent home and erased.
--
-- ARGV[1] is the ledger's name, the prefix of every key. Keys are made here and not declared: this is not for a Redis
-- Cluster. A script that fails half-way is not undone by Redis, so what others might have spoilt is read with `try`,
-- and what is only counted is written at the end, by `close_books`.

local call, try = redis.call, redis.pcall
local PREFIX = ARGV[1] .. ':'
local SUB, RES, CACHE, REPLIES = PREFIX .. 'sub:', PREFIX .. 'res:', PREFIX .. 'cache:', PREFIX .. 'rep:'
local RING, READY, SUSPECTS = PREFIX .. 'ring:', PREFIX .. 'ready:', PREFIX .. 'suspects'
local PENDING, WAITING = PREFIX .. 'pending', PREFIX .. 'waiting'
local LOAD, CLIENTS, STATS = PREFIX .. 'load', PREFIX .. 'clients', PREFIX .. 'stats'
local WORKER, WORKERS, SLOTS = PREFIX .. 'worker:', PREFIX .. 'workers', PREFIX .. 'slots'
local BEATS = PREFIX .. 'beats'  -- of all workers in one place: whoever reaps reads them often, and nothing else
local HELD, STARTED, CANCEL = PREFIX .. 'held:', PREFIX .. 'started:', PREFIX .. 'cancel:'
local REAPER = 'reaper'  -- holds what is lost until that is answered; not a worker
local MOST_REPLIES = '10000'  -- as text: to write a number of Lua's, Redis takes longer than one would think
local MOST_IN_REPLY, LONG = 16, 65536  -- answers in one reply; bytes of one that nothing follows
local MOST_SWEPT = 4096  -- tombstones that one call looks at in one list

-- Seconds, by the only clock that all share.
local function clock()
  local time = call('TIME')
  return time[1] + time[2] / 1000000
end

-- A time that loses no digits: Lua would write 14.
local function exact(time)
  return string.format('%.6f', time)
end

local function number(value)
  return tonumber(value or 0) or 0
end

-- What `try` gave, or nil if the key is missing or not of the type it should be.
local function sound(value)
  if value and not (type(value) == 'table' and value.err) then
    return value
  end
end

-- The books: the changes that this call makes to what is counted.

local lines, gone, is_gone, tallies, waiting_change = {}, {}, {}, {}, 0

-- (Lua knows a negative zero, which Redis does not take for a number.)
local function account(client, count, bytes, cost)
  local line = lines[client]
  if line then
    line[1], line[2], line[3] = line[1] + count, line[2] + bytes, line[3] + cost
  else
    lines[client] = {count + 0, bytes + 0, cost + 0}
  end
end

-- What goes to API processes: the fields of each one's next reply, ids and answers in turn.

local replies = {}

local function reply(api)
  try('XADD', REPLIES .. api, 'NOMKSTREAM', 'MAXLEN', '~', MOST_REPLIES, '*', unpack(replies[api]))
  replies[api] = nil
end

local function tally(what, count)
  tallies[what] = (tallies[what] or 0) + count
end

local function close_client(client, line)
  local own = PREFIX .. 'load:' .. client
  local count = call('HINCRBY', own, 'count', line[1])
  local bytes = call('HINCRBY', own, 'bytes', line[2])
  local cost = call('HINCRBY', own, 'cost', line[3])
  if count <= 0 then
    -- what is left over now is a trace of tampering: it goes from the totals as well
    line[1], line[2], line[3] = line[1] - count, line[2] - bytes, line[3] - cost
    call('DEL', own)
    call('SREM', CLIENTS, client)
  elseif line[1] > 0 then
    call('SADD', CLIENTS, client)
  end
  call('HINCRBY', LOAD, 'count', line[1])
  call('HINCRBY', LOAD, 'bytes', line[2])
  call('HINCRBY', LOAD, 'cost', line[3])
end

local function close_books()
  for api in pairs(replies) do
    reply(api)
  end
  if #gone > 0 then
    local keys = {}
    for each, id in ipairs(gone) do
      keys[each] = SUB .. id
    end
    call('DEL', unpack(keys))
    call('ZREM', PENDING, unpack(gone))
  end
  for client, line in pairs(lines) do
    close_client(client, line)
  end
  if waiting_change ~= 0 and call('INCRBY', WAITING, waiting_change) <= 0 then
    call('DEL', WAITING)
  end
  if #gone > 0 and call('EXISTS', PENDING) == 0 then
    -- nothing is pending, so nothing can be counted: what tampering has left behind ends here
    for _, client in ipairs(call('SMEMBERS', CLIENTS)) do
      call('DEL', PREFIX .. 'load:' .. client)
    end
    call('DEL', LOAD, WAITING, CLIENTS)
  end
  for what, count in pairs(tallies) do
    call('HINCRBY', STATS, what, count)
  end
end

-- How much there is to do and for how many: what `Need` is made of.
local function need()
  return number(call('GET', WAITING)), call('SCARD', WORKERS), number(call('GET', SLOTS))
end

-- Submissions. A field that says nothing may be absent: no holder, nobody who waits. `bytes` are those that it is charged
-- for. `attempts` counts the workers that were lost after they had started it; that it is started now is known from the
-- set of its holder. `about` is what many have in common, so that a call reads it once: suite, client, priority, cost,
-- tests, of what kind of graders it may share answers, labels, in JSON.

local PRIORITIES = {[0] = true, [1] = true, [2] = true}
local NOBODYS = {client = '', priority = 1, cost = 0, tests = 0, graders = ''}
local abouts = {}

local function is_figure(value)
  return type(value) == 'number' and value >= 0 and value < 1e15 and value == math.floor(value)
end

local function is_about(row)
  return type(row) == 'table' and #row == 7 and type(row[1]) == 'string' and type(row[2]) == 'string'
    and PRIORITIES[row[3]] and is_figure(row[4]) and is_figure(row[5]) and type(row[6]) == 'string'
    and type(row[7]) == 'table'
end

-- What `about` says, or false if that is not as we write it.
local function about(text)
  local known = abouts[text or '']
  if known == nil then
    local is_json, row = pcall(cjson.decode, text or '')
    known = is_json and is_about(row) and {
      client = row[2], priority = row[3], cost = row[4], tests = row[5], graders = row[6],
    } or false
    abouts[text or ''] = known
  end
  return known
end

-- Where the answer to such a body is that those who are alike may share; nil if there is no such place.
local function shared(digest, what)
  return what.graders ~= '' and CACHE .. digest .. what.graders or nil
end

local function read(id)
  local row = not is_gone[id] and sound(try(
    'HMGET', SUB .. id, 'digest', 'holder', 'apis', 'keep', 'attempts', 'about', 'bytes'
  ))
  if not row or not row[1] then
    return nil
  end
  return {
    digest = row[1], holder = row[2] or '', apis = row[3] or '', keep = row[4] == '1', attempts = number(row[5]),
    about = about(row[6]) or NOBODYS, bytes = number(row[7]),
  }
end

-- The words of a text; many submissions have the same.
local texts = {}

local function words(text)
  local found = texts[text]
  if not found then
    found = {}
    for word in string.gmatch(text, '%S+') do
      found[#found + 1] = word
    end
    texts[text] = found
  end
  return found
end

local function somebody_waits(sub)
  return sub.keep or sub.apis ~= ''
end

-- One more API process waits for it; a cancellation under way is withdrawn. Whether that process is new here.
local function attach(id, sub, api)
  if sub.holder ~= '' then
    call('SREM', CANCEL .. sub.holder, id)
  end
  if api == '' or string.find(' ' .. sub.apis .. ' ', ' ' .. api .. ' ', 1, true) then
    return false
  end
  call('HSET', SUB .. id, 'apis', sub.apis == '' and api or sub.apis .. ' ' .. api)
  return true
end

local function is_ready(id)
  local row = not is_gone[id] and sound(try('HMGET', SUB .. id, 'digest', 'holder', 'attempts'))
  return row and row[1] and not row[2] and not row[3]
end

-- Takes the ids of submissions that no longer wait from both ends of a list. Each was put there once, so on the average
-- this costs nothing; it keeps one who submits and cancels, while others have precedence, from filling the memory.
local function sweep(priority, client)
  local list = READY .. priority .. ':' .. client
  for _, side in ipairs({{-1, 'RPOP'}, {0, 'LPOP'}}) do
    for _ = 1, MOST_SWEPT do
      local id = sound(try('LINDEX', list, side[1]))
      if not id or is_ready(id) then
        break
      end
      call(side[2], list)
    end
  end
  if call('EXISTS', list) == 0 then
    call('LREM', RING .. priority, 0, client)
  end
end

-- Puts ids at one end (LPUSH or RPUSH) of a list. What is there and is no list is not ours.
local function put(push, list, ids)
  if not sound(try(push, list, unpack(ids))) then
    call('DEL', list)
    tally('refused', 1)
    call(push, list, unpack(ids))
  end
end

-- Puts ids at one end of a client's list, and the client into the ring.
local function enqueue(push, priority, client, ids)
  put(push, READY .. priority .. ':' .. client, ids)
  if not sound(try('LPOS', RING .. priority, client)) then
    put('RPUSH', RING .. priority, {client})
  end
end

-- It waits again, before all others of its client. One that was started by a worker that was lost waits among the
-- suspects.
local function send_home(id, sub)
  call('HDEL', SUB .. id, 'holder')
  waiting_change = waiting_change + 1
  if sub.attempts > 0 then
    put('RPUSH', SUSPECTS, {id})
  else
    enqueue('LPUSH', sub.about.priority, sub.about.client, {id})
  end
end

-- Out of the ledger, and out of the books. The sets of its holder are the caller's to put right.
local function erase(id, sub)
  gone[#gone + 1] = id
  is_gone[id] = true
  account(sub.about.client, -1, -sub.bytes, -sub.about.cost)
  if sub.holder == '' then
    waiting_change = waiting_change - 1
  end
end

-- As `erase`, for one that may wait in a list.
local function strike(id, sub)
  erase(id, sub)
  tally('cancelled', 1)
  if sub.holder ~= '' then
    call('SREM', HELD .. sub.holder, id)
    call('SREM', STARTED .. sub.holder, id)
  elseif sub.attempts > 0 then
    call('LREM', SUSPECTS, 0, id)
  else
    sweep(sub.about.priority, sub.about.client)
  end
end

-- The worker has it no longer and did not finish it: it goes home, or away if it was cancelled and nobody has joined
-- since.
local function hand_back(id, sub, cancelled)
  call('SREM', STARTED .. sub.holder, id)
  call('SREM', HELD .. sub.holder, id)
  if cancelled and not somebody_waits(sub) then
    erase(id, sub)
    tally('cancelled', 1)
  else
    send_home(id, sub)
  end
end

-- Remembers an answer and sends it, with others, to all who wait. How it is written: see packing.py. The client makes
-- it, for long strings are dear in Lua.
local function publish(id, sub, answer, seconds)
  call('SET', RES .. id, answer, 'EX', seconds)
  for _, api in ipairs(words(sub.apis)) do
    local fields = replies[api] or {}
    replies[api] = fields
    fields[#fields + 1] = id
    fields[#fields + 1] = answer
    if #fields >= 2 * MOST_IN_REPLY or #answer > LONG then
      reply(api)
    end
  end
end

local function deregister(worker)
  local slots = number(call('HGET', WORKER .. worker, 'slots'))
  call('DEL', WORKER .. worker, HELD .. worker, STARTED .. worker, CANCEL .. worker)
  call('HDEL', BEATS, worker)
  local known = call('SREM', WORKERS, worker) == 1
  if known and (call('DECRBY', SLOTS, slots) <= 0 or call('EXISTS', WORKERS) == 0) then
    call('DEL', SLOTS)
  end
  return known
end

-- Bounds

local MOST_TOGETHER = 2  -- times the bounds; see bounds.py

-- Which bound `new` would go over, or nil: {'full', bound, used, new, share, clients, seconds}; with no clients, it is
-- the others who have so much that nobody may have more. One who has nothing pending may have one, however large.
local function over(client, new, bounds)
  local row = call('HMGET', PREFIX .. 'load:' .. client, 'count', 'bytes', 'cost')
  local all = call('HMGET', LOAD, 'count', 'bytes', 'cost')
  local function full(each, used, most, clients)
    local seconds = number(all[3]) / math.max(1, number(call('GET', SLOTS))) / 1000000
    return {'full', each - 1, used, new[each], math.floor(most), clients, exact(seconds)}
  end
  for each = 1, 3 do
    local others, most = number(all[each]) - number(row[each]), bounds[each] * MOST_TOGETHER
    if others >= most then
      return full(each, others, most, 0)
    end
  end
  if number(row[1]) <= 0 and new[1] <= 1 then
    return nil
  end
  local clients = call('SCARD', CLIENTS) + 1 - call('SISMEMBER', CLIENTS, client)
  for each = 1, 3 do
    local share = bounds[each] / clients
    if number(row[each]) + new[each] > share then
      return full(each, number(row[each]), share, clients)
    end
  end
end
