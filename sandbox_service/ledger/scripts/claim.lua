#!lua flags=allow-oom
-- Gives waiting submissions to a worker. ARGV: name, worker, most, idle, slots, the longest body, this turn, the last
-- turn whose claims the worker has heard of. It is run even when memory is full: nothing else makes room.
--
-- Returns {'ok', need ×3, whether it gave up looking, time, six values for each claim} or {'unknown'}.

local worker, idle, longest = ARGV[2], number(ARGV[4]), number(ARGV[6])
local MOST_CLAIMS = 64
if call('SISMEMBER', WORKERS, worker) == 0 then
  return {'unknown'}
end
local time, looked, ids, values = clock(), 0, {}, {}

-- Whether it is a number as we write it.
local function is_number(value)
  return value and #value <= 15 and string.find(value, '^%d+$')
end

-- Somebody has written what we do not write, or taken it away: it goes, as far as it was ever counted.
local function refuse(id, client)
  local row = sound(try('HMGET', SUB .. id, 'about', 'bytes')) or {}
  local cost, bytes = (about(row[1]) or NOBODYS).cost, is_number(row[2]) and number(row[2]) or 0
  call('DEL', SUB .. id)
  tally('refused', 1)
  if call('ZREM', PENDING, id) == 1 then
    gone[#gone + 1] = id
    waiting_change = waiting_change - 1
    account(client, -1, -bytes, -cost)
  end
end

local function is_whole(row)
  return about(row[1]) and is_number(row[2]) and row[3] and row[4] and #row[4] == 16 and row[5]
    and (not row[7] or is_number(row[7]))
end

-- What a claim says of a submission, if it has this holder (or none) and the right kind of past.
local function look(id, client, holder, suspect)
  looked = looked + 1
  local key = SUB .. id
  local bytes = sound(try('HSTRLEN', key, 'body'))
  if bytes == 0 and call('EXISTS', key) == 0 then
    if call('ZSCORE', PENDING, id) then
      refuse(id, client)
    end
    return false
  end
  if not bytes or bytes > longest then
    return refuse(id, client)
  end
  local row = call('HMGET', key, 'about', 'bytes', 'taken', 'digest', 'body', 'holder', 'attempts')
  if (row[6] or nil) ~= holder or (suspect ~= nil and suspect ~= (number(row[7]) > 0)) then
    return false
  end
  if not is_whole(row) then
    return refuse(id, client)
  end
  return {id = id, body = row[5], about = row[1], digest = row[4], attempts = row[7] or '0', taken = row[3]}
end

local function give(claim)
  local at = #values
  ids[#ids + 1] = claim.id
  values[at + 1], values[at + 2], values[at + 3] = claim.id, claim.body, claim.about
  values[at + 4], values[at + 5], values[at + 6] = claim.digest, claim.attempts, claim.taken
end

-- The worker did not hear of its last claims: the reply was lost on its way. It gets them again.
local turn = call('HMGET', WORKER .. worker, 'turn', 'given')
local again = turn[1] and turn[1] ~= ARGV[8]
if again then
  for _, id in ipairs(cmsgpack.unpack(turn[2])) do
    local claim = call('SISMEMBER', STARTED .. worker, id) == 0 and look(id, '', worker)
    if claim then
      give(claim)
    end
  end
end

-- Ids whose earlier life this worker has still to end: a late answer would be taken for that of the new one.
local ending, aside = {}, {}
for _, id in ipairs(call('SMEMBERS', CANCEL .. worker)) do
  ending[id] = true
end

local function take(id, client, suspect, put_back)
  if ending[id] then
    aside[#aside + 1] = {id = id, put_back = put_back}
    return
  end
  local claim = look(id, client, nil, suspect)
  if claim then
    call('HSET', SUB .. id, 'holder', worker)
    return claim
  end
end

local function next_of(list, count)
  local found = try('LPOP', list, count)
  if found and found.err then
    call('DEL', list)
    tally('refused', 1)
    return nil
  end
  return found or nil
end

local function take_suspect()
  while #ids == 0 and looked < MOST_SWEPT do
    local found = next_of(SUSPECTS, 1)
    if not found then
      return
    end
    local what = about(sound(try('HGET', SUB .. found[1], 'about'))) or NOBODYS
    local claim = take(found[1], what.client, true, function(id) put('RPUSH', SUSPECTS, {id}) end)
    if claim then
      give(claim)
    end
  end
end

-- What was taken in this call goes out as if each client had taken turns by one.
local function give_by_turns(clients)
  local left, turn = true, 0
  while left do
    left, turn = false, turn + 1
    for _, claims in ipairs(clients) do
      if claims[turn] then
        give(claims[turn])
        left = true
      end
    end
  end
end

-- One turn of the ring: at most so many for the client at its head, which then goes to its end. How many it was given;
-- nil if nobody is there.
local function take_turn(priority, ring, most, clients)
  local head = next_of(ring, 1)
  if not head then
    return nil
  end
  local client = head[1]
  local own = clients[client]
  if not own then
    own = {}
    clients[client] = own
    clients[#clients + 1] = own
  end
  local before = #own
  local list = READY .. priority .. ':' .. client
  local function put_back(id)
    enqueue('LPUSH', priority, client, {id})
  end
  for _, id in ipairs(next_of(list, most) or {}) do
    own[#own + 1] = take(id, client, false, put_back)
  end
  if call('EXISTS', list) == 1 then
    call('RPUSH', ring, client)
  end
  return #own - before
end

local function take_ready(wanted)
  for priority = 0, 2 do
    local ring = RING .. priority
    local share = math.max(1, math.floor((wanted - #ids) / math.max(1, number(sound(try('LLEN', ring))))))
    local clients, room = {}, wanted - #ids
    while room > 0 and looked < MOST_SWEPT do
      local given = take_turn(priority, ring, math.min(share, room), clients)
      if not given then
        break
      end
      room = room - given
    end
    give_by_turns(clients)
  end
end

if #ids == 0 then
  again = false
  local waiting, _, slots = need()
  local share = math.floor(waiting * number(ARGV[5]) / (2 * math.max(1, slots)))
  local wanted = math.min(number(ARGV[3]), MOST_CLAIMS, math.max(idle, share))
  if wanted > 0 and idle > 0 then
    take_suspect()
  end
  if #ids == 0 then
    take_ready(wanted)
  end
end
for each = #aside, 1, -1 do
  aside[each].put_back(aside[each].id)
end
if #ids > 0 then
  call('HSET', WORKER .. worker, 'turn', ARGV[7], 'given', cmsgpack.pack(ids))
end
if #ids > 0 and not again then
  call('SADD', HELD .. worker, unpack(ids))
  waiting_change = waiting_change - #ids
end
close_books()
local waiting, workers, slots = need()
return {'ok', waiting, workers, slots, looked >= MOST_SWEPT and 1 or 0, exact(time), unpack(values)}
