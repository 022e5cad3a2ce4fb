#!lua flags=allow-oom
-- A worker is dead. ARGV: name, worker, most attempts. What it had not started goes home, oldest first; what it had
-- started is a suspect; what was started too often is lost. That is held by the reaper until it is answered, so that a
-- reaper that dies now loses nothing. Returns id, tests and attempts of each that is lost.

local worker, most = ARGV[2], number(ARGV[3])
local MOST_RETURNS = 3
local held, lost, home = HELD .. worker, {}, {}

local function lose(id, sub)
  lost[#lost + 1] = id
  lost[#lost + 1] = sub.about.tests
  lost[#lost + 1] = sub.attempts
end

local function requeue(id, sub)
  home[#home + 1] = {id, sub, number(call('HGET', SUB .. id, 'taken'))}
end

-- A worker says a moment late what it starts, so one that ends its worker at once may never be seen to have been started.
-- Whatever was held by three workers that were lost is taken for such a one.
local function is_suspect(id)
  if call('SISMEMBER', STARTED .. worker, id) == 1 then
    return true
  end
  return call('HINCRBY', SUB .. id, 'returns', 1) >= MOST_RETURNS
end

local function part(id, sub)
  if is_suspect(id) then
    sub.attempts = sub.attempts + 1
    call('HSET', SUB .. id, 'attempts', sub.attempts)
  end
  if call('SISMEMBER', CANCEL .. worker, id) == 1 and not somebody_waits(sub) then
    erase(id, sub)
    tally('cancelled', 1)
  elseif sub.attempts >= most then
    call('HSET', SUB .. id, 'holder', REAPER)
    call('SADD', HELD .. REAPER, id)
    lose(id, sub)
  else
    requeue(id, sub)
  end
end

for _, id in ipairs(call('SMEMBERS', held)) do
  local sub = read(id)
  if not sub or sub.holder ~= worker then
    call('SREM', held, id)
  elseif worker == REAPER then
    lose(id, sub)
  else
    part(id, sub)
  end
end
table.sort(home, function(one, other) return one[3] > other[3] end)
for _, each in ipairs(home) do
  send_home(each[1], each[2])
end
if worker ~= REAPER then
  if #home > 0 then
    tally('requeued', #home)
  end
  if deregister(worker) then
    tally('reaped', 1)
  end
end
close_books()
return lost
