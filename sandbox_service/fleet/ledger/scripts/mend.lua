#!lua flags=allow-oom
-- Makes the lists and counts anew if they do not fit together, because another program has deleted some of their keys:
-- what stands in no list would never be claimed. ARGV: name. Returns 1 if it did so, otherwise 0.
--
-- Of all pending submissions, each waits or is held, and what waits is in a list.

local MOST_AT_ONCE = 1000  -- values of one command
local holders, is_holder = {}, {}

local function add_holders(names)
  for _, name in ipairs(sound(names) or {}) do
    if not is_holder[name] and (name == REAPER or call('EXISTS', WORKER .. name) == 1) then
      is_holder[name] = true
      holders[#holders + 1] = name
    end
  end
end

add_holders(try('SMEMBERS', WORKERS))
add_holders(try('HKEYS', BEATS))
local workers = #holders
add_holders({REAPER})

-- The lists of waiting submissions that rings lead to.
local function lists()
  local found = {SUSPECTS}
  for priority = 0, 2 do
    for _, client in ipairs(sound(try('LRANGE', RINGS[priority], 0, -1)) or {}) do
      found[#found + 1] = READY .. priority .. ':' .. client
    end
  end
  return found
end

local function do_fit()
  local held, listed = 0, 0
  for _, holder in ipairs(holders) do
    held = held + number(sound(try('SCARD', HELD .. holder)))
  end
  for _, list in ipairs(lists()) do
    listed = listed + number(sound(try('LLEN', list)))
  end
  local waiting, pending = number(sound(try('GET', WAITING))), number(sound(try('ZCARD', PENDING)))
  local counted = number(sound(try('HGET', LOAD, 'count')))
  local registered = number(sound(try('SCARD', WORKERS)))
  local are_listed = listed >= waiting and (waiting > 0 or listed == 0)
  return waiting + held == pending and counted == pending and are_listed and registered == workers
end

if do_fit() then
  return 0
end

-- All ids that are named somewhere, in order of arrival; those that `pending` has lost come last.
local ids, is_named = {}, {}
local function name(found)
  for _, id in ipairs(sound(found) or {}) do
    if not is_named[id] then
      is_named[id] = true
      ids[#ids + 1] = id
    end
  end
end
name(try('ZRANGE', PENDING, 0, -1))
for _, holder in ipairs(holders) do
  name(try('SMEMBERS', HELD .. holder))
end
local old_lists = lists()
for _, list in ipairs(old_lists) do
  name(try('LRANGE', list, 0, -1))
end

local function in_parts(command, key, values)
  for at = 1, #values, MOST_AT_ONCE do
    call(command, key, unpack(values, at, math.min(at + MOST_AT_ONCE - 1, #values)))
  end
end

local held, sums, order, waits, suspects, waiting, pending = {}, {}, {}, {}, {}, 0, {}
for _, holder in ipairs(holders) do
  held[holder] = {}
end

local function wait(id, sub)
  waiting = waiting + 1
  if sub.attempts > 0 then
    suspects[#suspects + 1] = id
    return
  end
  local place = sub.about.priority .. ':' .. sub.about.client
  if not waits[place] then
    waits[place] = {priority = sub.about.priority, client = sub.about.client, ids = {}}
    order[#order + 1] = waits[place]
  end
  waits[place].ids[#waits[place].ids + 1] = id
end

local function count(sub)
  local sum = sums[sub.about.client] or {0, 0, 0}
  sum[1], sum[2], sum[3] = sum[1] + 1, sum[2] + sub.bytes, sum[3] + sub.about.cost
  sums[sub.about.client] = sum
end

for _, id in ipairs(ids) do
  local sub = read(id)
  if sub then
    pending[#pending + 1] = string.format('%.0f', number(call('HGET', SUB .. id, 'taken')) * 1000)
    pending[#pending + 1] = id
    count(sub)
    if is_holder[sub.holder] then
      held[sub.holder][#held[sub.holder] + 1] = id  -- a worker that does not have it gives it back
    else
      call('DEL', HELD .. sub.holder, STARTED .. sub.holder, CANCEL .. sub.holder)
      call('HDEL', SUB .. id, 'holder')
      wait(id, sub)
    end
  end
end

for _, client in ipairs(sound(try('SMEMBERS', CLIENTS)) or {}) do
  call('DEL', PREFIX .. 'load:' .. client)
end
in_parts('DEL', LOAD, old_lists)
call('DEL', PENDING, WAITING, CLIENTS, RINGS[0], RINGS[1], RINGS[2])
in_parts('ZADD', PENDING, pending)
for holder, own in pairs(held) do
  call('DEL', HELD .. holder)
  in_parts('SADD', HELD .. holder, own)
end
in_parts('RPUSH', SUSPECTS, suspects)
for _, each in ipairs(order) do
  local list = READY .. each.priority .. ':' .. each.client
  call('DEL', list)
  in_parts('RPUSH', list, each.ids)
  call('RPUSH', RINGS[each.priority], each.client)
end
for client, sum in pairs(sums) do
  account(client, sum[1], sum[2], sum[3])
  call('DEL', PREFIX .. 'load:' .. client)
end
call('DEL', WORKERS, SLOTS)
local slots, names = 0, {}
for each = 1, workers do
  names[each] = holders[each]
  slots = slots + number(sound(try('HGET', WORKER .. names[each], 'slots')))
end
in_parts('SADD', WORKERS, names)
if slots > 0 then
  call('SET', SLOTS, whole(slots))
end
waiting_change = waiting
tally('mended', 1)
write_counts()
return 1
