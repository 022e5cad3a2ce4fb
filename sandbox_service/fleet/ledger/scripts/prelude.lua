-- The beginning of the library (see ../lua.py): the names of the keys (see ../keys.md), counts, and how a submission is
-- read, requeued, erased.
--
-- ARGV[1] of each function is the ledger's name, the prefix of every key. Keys are made here and not declared, so this
-- does not work with Redis Cluster. Redis does not undo a function that fails half-way: values that another program may
-- have damaged are read with `try`, and counts are written at the end, by `write_counts`.
--
-- Variables of the library outlive a call. `begin` resets those that belong to one; others only remember what never
-- changes.

local call, try  -- of Redis, which has them only during calls
local REAPER = 'reaper'  -- holds lost submissions until they are answered; not a worker
local MOST_REPLIES = '10000'  -- as text: Redis formats Lua numbers slowly
local MOST_IN_REPLY, LONG = 16, 65536  -- answers in one reply; bytes of one that nothing follows
local MOST_SWEPT = 4096  -- cancelled ids that one call skips in one list
local MOST_KNOWN = 1048576  -- bytes of texts whose meaning is remembered

-- The names of the keys of the ledger of the last call.
local PREFIX, SUB, RES, CACHE, REPLIES, RING, RINGS, READY, SUSPECTS, PENDING, WAITING, LOAD, CLIENTS, STATS
local WORKER, WORKERS, SLOTS, HELD, STARTED, CANCEL
local IDLE  -- idle slots of all workers, as last reported
local BEATS  -- of all workers in one key, because the reaper reads them often

local function name_keys(prefix)
  PREFIX = prefix
  SUB, RES, CACHE, REPLIES = PREFIX .. 'sub:', PREFIX .. 'res:', PREFIX .. 'cache:', PREFIX .. 'rep:'
  RING, READY, SUSPECTS = PREFIX .. 'ring:', PREFIX .. 'ready:', PREFIX .. 'suspects'
  RINGS = {[0] = RING .. '0', [1] = RING .. '1', [2] = RING .. '2'}
  PENDING, WAITING = PREFIX .. 'pending', PREFIX .. 'waiting'
  LOAD, CLIENTS, STATS = PREFIX .. 'load', PREFIX .. 'clients', PREFIX .. 'stats'
  WORKER, WORKERS, SLOTS = PREFIX .. 'worker:', PREFIX .. 'workers', PREFIX .. 'slots'
  IDLE, BEATS = PREFIX .. 'idle', PREFIX .. 'beats'
  HELD, STARTED, CANCEL = PREFIX .. 'held:', PREFIX .. 'started:', PREFIX .. 'cancel:'
end

-- Returns a function that remembers what `make` has made of texts, because many submissions have the same.
local function remembering(make)
  local known, bytes = {}, 0
  return function(text)
    local found = known[text]
    if found == nil then
      found = make(text)
      bytes = bytes + #text
      if bytes > MOST_KNOWN then
        known, bytes = {}, #text
      end
      known[text] = found
    end
    return found
  end
end

-- Seconds, by the clock of Redis, which all processes share.
local function clock()
  local time = call('TIME')
  return time[1] + time[2] / 1000000
end

-- A time with all its digits: Lua would write 14.
local function exact(time)
  return string.format('%.6f', time)
end

local function number(value)
  return tonumber(value or 0) or 0
end

-- Returns the result of `try`; nil if the key is missing or of another type.
local function sound(value)
  if value and not (type(value) == 'table' and value.err) then
    return value
  end
end

-- Counts: the changes that this call makes, by client and event.

local lines, gone, is_gone, tallies, waiting_change
local all_count  -- of all clients, after this call has changed it

-- A whole number as text: Redis formats Lua numbers slowly.
local function whole(value)
  return string.format('%d', value)
end

local function account(client, count, bytes, cost)
  local line = lines[client]
  if line then
    line[1], line[2], line[3] = line[1] + count, line[2] + bytes, line[3] + cost
  else
    lines[client] = {count, bytes, cost}
  end
end

-- Replies to API processes: the fields of the next one of each, ids and answers in turn.

local replies

local function reply(api)
  try('XADD', REPLIES .. api, 'NOMKSTREAM', 'MAXLEN', '~', MOST_REPLIES, '*', unpack(replies[api]))
  replies[api] = nil
end

local function tally(what, count)
  tallies[what] = (tallies[what] or 0) + count
end

local function write_client(client, line)
  local own = PREFIX .. 'load:' .. client
  local change = {whole(line[1]), whole(line[2]), whole(line[3])}
  local count = call('HINCRBY', own, 'count', change[1])
  local bytes = call('HINCRBY', own, 'bytes', change[2])
  local cost = call('HINCRBY', own, 'cost', change[3])
  if count <= 0 then
    -- a remainder comes from another program's writes: subtract it from the totals as well
    change = {whole(line[1] - count), whole(line[2] - bytes), whole(line[3] - cost)}
    call('DEL', own)
    call('SREM', CLIENTS, client)
  elseif line[1] > 0 then
    call('SADD', CLIENTS, client)
  end
  all_count = call('HINCRBY', LOAD, 'count', change[1])
  call('HINCRBY', LOAD, 'bytes', change[2])
  call('HINCRBY', LOAD, 'cost', change[3])
end

-- Deletes the counts if nothing is pending: they are what another program's writes have left. Returns whether it did.
local function have_cleared_counts()
  if call('EXISTS', PENDING) == 1 then
    return false
  end
  for _, client in ipairs(call('SMEMBERS', CLIENTS)) do
    call('DEL', PREFIX .. 'load:' .. client)
  end
  call('DEL', LOAD, WAITING, CLIENTS)
  return true
end

local function write_counts()
  for api in pairs(replies) do
    reply(api)
  end
  if #gone > 0 then
    call('ZREM', PENDING, unpack(gone))
    for each, id in ipairs(gone) do
      gone[each] = SUB .. id
    end
    call('DEL', unpack(gone))
  end
  for client, line in pairs(lines) do
    write_client(client, line)
  end
  if waiting_change ~= 0 and call('INCRBY', WAITING, whole(waiting_change)) <= 0 then
    call('DEL', WAITING)
  end
  if #gone > 0 and all_count <= 0 then
    have_cleared_counts()
  end
  for what, count in pairs(tallies) do
    call('HINCRBY', STATS, what, whole(count))
  end
end

-- Returns the three values of `Need`: what waits, workers, slots.
local function need()
  local counts = call('MGET', WAITING, SLOTS)
  return number(counts[1]), call('SCARD', WORKERS), number(counts[2])
end

-- Sets the number of idle slots of a worker. `before`: the number that was set last.
local function note_idle(worker, before, idle)
  if idle ~= before then
    call('HSET', WORKER .. worker, 'idle', whole(idle))
    if call('INCRBY', IDLE, whole(idle - before)) <= 0 then
      call('DEL', IDLE)
    end
  end
end

-- Submissions. Empty fields are absent: no holder, no API process. `bytes` are those that count against the bounds.
-- `attempts` counts the workers that were lost after they had started it; whether it is started now is in the set of
-- its holder. `about` has the terms, in JSON: suite, client, priority, cost, tests, kind of the graders with which it
-- shares answers, labels.

local PRIORITIES = {[0] = true, [1] = true, [2] = true}
local NO_TERMS = {suite = '', client = '', priority = 1, cost = 0, tests = 0, graders = ''}

local function is_figure(value)
  return type(value) == 'number' and value >= 0 and value < 1e15 and value == math.floor(value)
end

local function is_about(row)
  return type(row) == 'table' and #row == 7 and type(row[1]) == 'string' and type(row[2]) == 'string'
    and PRIORITIES[row[3]] and is_figure(row[4]) and is_figure(row[5]) and type(row[6]) == 'string'
    and type(row[7]) == 'table'
end

-- Returns the decoded `about`; false if the ledger did not write it.
local about = remembering(function(text)
  local is_json, row = pcall(cjson.decode, text)
  return is_json and is_about(row) and {
    suite = row[1], client = row[2], priority = row[3], cost = row[4], tests = row[5], graders = row[6],
  } or false
end)

-- Returns the cache key of a body; nil if its answer is not shared.
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
    about = about(row[6] or '') or NO_TERMS, bytes = number(row[7]),
  }
end

local words = remembering(function(text)
  local found = {}
  for word in string.gmatch(text, '%S+') do
    found[#found + 1] = word
  end
  return found
end)

local function is_wanted(sub)
  return sub.keep or sub.apis ~= ''
end

-- Adds an API process that waits for it, and withdraws a cancellation under way. Returns whether the process is new.
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

-- Removes ids that no longer wait from both ends of a list. Each was added once, so the amortized cost is constant. It
-- keeps a client that submits and cancels, while other priorities go first, from filling the memory.
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
    call('LREM', RINGS[priority], '0', client)
  end
end

-- Adds ids at one end (LPUSH or RPUSH) of a list. A key of another type was not written by the ledger and is deleted.
local function put(push, list, ids)
  if not sound(try(push, list, unpack(ids))) then
    call('DEL', list)
    tally('refused', 1)
    call(push, list, unpack(ids))
  end
end

-- Adds ids at one end of a client's list, and the client to the ring.
local function enqueue(push, priority, client, ids)
  put(push, READY .. priority .. ':' .. client, ids)
  if not sound(try('LPOS', RINGS[priority], client)) then
    put('RPUSH', RINGS[priority], {client})
  end
end

-- Lets it wait again, before all others of its client, whose turn is next. If a lost worker had started it, it waits
-- among the suspects.
local function requeue(id, sub)
  call('HDEL', SUB .. id, 'holder')
  waiting_change = waiting_change + 1
  if sub.attempts > 0 then
    put('RPUSH', SUSPECTS, {id})
  else
    enqueue('LPUSH', sub.about.priority, sub.about.client, {id})
    local ring = RINGS[sub.about.priority]
    call('LREM', ring, '1', sub.about.client)
    call('LPUSH', ring, sub.about.client)
  end
end

-- Deletes it and subtracts its counts. The caller updates the sets of its holder.
local function erase(id, sub)
  gone[#gone + 1] = id
  is_gone[id] = true
  account(sub.about.client, -1, -sub.bytes, -sub.about.cost)
  if sub.holder == '' then
    waiting_change = waiting_change - 1
  end
end

-- As `erase`, for a submission that is cancelled and may wait in a list.
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

-- Takes it from a worker that did not finish it: it waits again, or is erased if it was cancelled and not joined since.
local function give_back_to_queue(id, sub, cancelled)
  call('SREM', STARTED .. sub.holder, id)
  call('SREM', HELD .. sub.holder, id)
  if cancelled and not is_wanted(sub) then
    erase(id, sub)
    tally('cancelled', 1)
  else
    requeue(id, sub)
  end
end

local UNSURE = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

-- Returns an answer with the digest of its submission, where the process that packed it did not know that.
local function with_digest(sub, answer)
  if string.sub(answer, 2, 17) ~= UNSURE then
    return answer
  end
  return string.sub(answer, 1, 1) .. sub.digest .. string.sub(answer, 18)
end

-- Stores an answer and sends it, with others, to all API processes that wait. The worker packs it (see packing.py),
-- because long strings are expensive in Lua.
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
  local row = call('HMGET', WORKER .. worker, 'slots', 'idle')
  local slots = number(row[1])
  note_idle(worker, number(row[2]), 0)
  call('DEL', WORKER .. worker, HELD .. worker, STARTED .. worker, CANCEL .. worker)
  call('HDEL', BEATS, worker)
  local known = call('SREM', WORKERS, worker) == 1
  if known and (call('DECRBY', SLOTS, slots) <= 0 or call('EXISTS', WORKERS) == 0) then
    call('DEL', SLOTS, IDLE)
  end
  return known
end

-- Bounds

local MOST_TOGETHER = 2  -- times the bounds; see bounds/

-- Returns the refusal of what `new` would exceed: {'full', bound, used, new, share, clients, seconds}; nil if nothing.
-- With 0 clients, the others have MOST_TOGETHER times the bound.
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

-- Begins a call: sets the names of its keys, and forgets what the last call has changed and counted.
local function begin(name)
  call, try = redis.call, redis.pcall
  if PREFIX ~= name .. ':' then
    name_keys(name .. ':')
  end
  lines, gone, is_gone, tallies, replies, waiting_change, all_count = {}, {}, {}, {}, {}, 0, 0
end
