-- Claims: gives waiting submissions to a worker, in the order that bounds/ specifies. A part of the library for
-- exchange.lua, which describes the arguments.

local MOST_CLAIMS = 64
local MOST_WITH_SUITES, SUITE_BYTES = 4, 16384  -- claims that bring their suites; bytes of a suite that is brought
local LAST_BYTE = '16384'  -- SUITE_BYTES as text: Redis formats Lua numbers slowly
local NO_TIME = {'0', '0'}
local longest, looked, ids, values, suites
local aside  -- submissions that this worker must not take yet
local first_priority  -- nothing more urgent waits, and from 1 on there is no suspect
local left_priority  -- of what this claim has left, with nothing more urgent; nil: not known

local function begin_claims(priority)
  looked, ids, values, suites, aside, first_priority, left_priority = 0, {}, {}, {}, {}, priority, nil
end

local function append(list, values_to_add)
  for _, each in ipairs(values_to_add) do
    list[#list + 1] = each
  end
end

-- Returns whether it is a number as the ledger writes it.
local function is_number(value)
  return value and #value <= 15 and string.find(value, '^%d+$')
end

-- Deletes a submission that another program has damaged, and subtracts what was counted for it.
local function refuse(id, client)
  local row = sound(try('HMGET', SUB .. id, 'about', 'bytes')) or {}
  local cost, bytes = (about(row[1] or '') or NO_TERMS).cost, is_number(row[2]) and number(row[2]) or 0
  call('DEL', SUB .. id)
  tally('refused', 1)
  if call('ZREM', PENDING, id) == 1 then
    gone[#gone + 1] = id
    waiting_change = waiting_change - 1
    account(client, -1, -bytes, -cost)
  end
end

local function is_whole(row)
  return about(row[1] or '') and is_number(row[2]) and row[3] and row[4] and #row[4] == 16 and row[5]
    and (not row[7] or is_number(row[7]))
end

-- Returns the claim of a submission, if it has this holder (or none) and is a suspect or not, as asked.
local function look(id, client, holder, suspect)
  looked = looked + 1
  local key = SUB .. id
  local row = sound(try('HMGET', key, 'about', 'bytes', 'taken', 'digest', 'body', 'holder', 'attempts'))
  if not row or #(row[5] or '') > longest then
    return refuse(id, client)
  end
  if not row[5] and call('EXISTS', key) == 0 then
    if call('ZSCORE', PENDING, id) then
      refuse(id, client)
    end
    return false
  end
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

-- Gives again what the last claim gave, because its reply was lost.
local function give_again(given)
  for _, id in ipairs(cmsgpack.unpack(given)) do
    local claim = look(id, '', worker)
    if claim then
      give(claim)
    end
  end
end

local function take(id, client, suspect, put_back)
  if ending[id] then  -- its late answer would be taken for that of the new submission of the id
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
  local found = try('LPOP', list, whole(count))
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
    local what = about(sound(try('HGET', SUB .. found[1], 'about')) or '') or NO_TERMS
    local claim = take(found[1], what.client, true, function(id) put('RPUSH', SUSPECTS, {id}) end)
    if claim then
      give(claim)
    end
  end
end

-- Orders what was taken in this call as if clients had taken turns one by one.
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

-- Returns the client at the head of a ring, and moves it to its end; nil if the ring is empty.
local function turn_of(ring)
  local client = try('LMOVE', ring, ring, 'LEFT', 'RIGHT')
  if client and client.err then
    return next_of(ring, 1)  -- a key of another type, which it deletes
  end
  return client or nil
end

-- Takes at most so many for the client whose turn it is. Returns how many it took; nil if the ring is empty.
local function take_turn(priority, ring, most, clients)
  local client = turn_of(ring)
  if not client then
    return nil
  end
  local own = clients[client]
  if not own then
    own = {}
    clients[client] = own
    clients[#clients + 1] = own
  end
  local before = #own
  local function given()
    return #own - before
  end
  local list = READY .. priority .. ':' .. client
  local function put_back(id)
    enqueue('LPUSH', priority, client, {id})
  end
  while given() < most and looked < MOST_SWEPT do  -- again, if some of them were cancelled
    local popped = next_of(list, most - given())
    if not popped then
      break
    end
    for _, id in ipairs(popped) do
      own[#own + 1] = take(id, client, false, put_back)
    end
  end
  if call('EXISTS', list) == 1 then
    left_priority = left_priority or priority
  else
    call('LREM', ring, '-1', client)
    left_priority = nil  -- it may have been the client that had something left
  end
  return given()
end

local function take_ready(wanted, last_priority)
  for priority = first_priority, last_priority do
    local ring, clients, room = RINGS[priority], {}, wanted - #ids
    local length = room > 1 and try('LLEN', ring) or room  -- one submission is not shared among clients
    local waiting = type(length) == 'number' and length or 1  -- a key of another type is deleted below
    local share = math.max(1, math.floor(room / math.max(1, waiting)))
    while waiting > 0 and room > 0 and looked < MOST_SWEPT do
      local given = take_turn(priority, ring, math.min(share, room), clients)
      if not given then
        break
      end
      room = room - given
    end
    give_by_turns(clients)
  end
end

local function take_new(idle, most, last_priority)
  if first_priority == 0 and most > 0 and idle > 0 then
    take_suspect()
  end
  if #ids == 0 then
    take_ready(most, last_priority)
  end
  for each = #aside, 1, -1 do
    aside[each].put_back(aside[each].id)
    first_priority, left_priority = 0, nil
  end
  if #ids > 0 then
    call('SADD', HELD_HERE, unpack(ids))
    waiting_change = waiting_change - #ids
  end
end

-- Notes that the first ones begin now, so that the worker need not report it. Returns how many.
local function note_begun(most)
  local count = math.min(most, #ids)
  if count == 0 or values[5] ~= '0' then  -- a suspect waits until nothing else runs
    return 0
  end
  call('SADD', STARTED_HERE, unpack(ids, 1, count))
  return count
end

-- Adds the small suites of a few claims that the worker does not have: it would fetch them next.
-- Names of suites that it has are the arguments from `first` to `last`.
local function add_suites(ARGV, first, last)
  local known = {}
  for each = first, last do
    known[ARGV[each]] = true
  end
  for each = 3, #ids <= MOST_WITH_SUITES and #values or 0, 6 do
    local suite = about(values[each]).suite
    if not known[suite] then
      known[suite] = true
      local found = sound(try('GETRANGE', PREFIX .. 'suite:' .. suite, '0', LAST_BYTE))
      if found and found ~= '' and #found <= SUITE_BYTES then
        suites[#suites + 1], suites[#suites + 2] = suite, found
      end
    end
  end
end

-- Returns the priority of the next claim, after that of this call if it has one; 3 if nothing waits.
local function most_urgent()
  for priority = first_priority, 2 do
    if priority == left_priority or call('EXISTS', RINGS[priority]) == 1 then
      return priority
    end
  end
  return 3
end

-- Claims as the arguments say. `turn`: of the worker's last claim. Returns how many begin now.
local function claim(ARGV, turn, idle, waiting, slots)
  longest = number(ARGV[8])
  if turn and turn ~= ARGV[10] then
    give_again(call('HGET', WORKER .. worker, 'given'))
  end
  if #ids == 0 then
    local share = math.floor(waiting * number(ARGV[7]) / (2 * math.max(1, slots)))
    local most = math.min(number(ARGV[6]), MOST_CLAIMS, math.max(idle, share, number(ARGV[12])))
    take_new(idle, most, number(ARGV[11]))
  end
  return note_begun(number(ARGV[13]))
end
