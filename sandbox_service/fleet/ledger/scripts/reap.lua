#!lua flags=allow-oom
-- Deregisters a dead worker. ARGV: name, worker, most attempts. What it had not started waits again, oldest first; what
-- it had started is a suspect; what was started too often is lost. The reaper holds lost submissions until they are
-- answered, so that a reaper that dies now loses none. Returns id, tests and attempts of each lost one.

local worker, most = ARGV[2], number(ARGV[3])
local MOST_RETURNS = 3
local held, lost, returned = HELD .. worker, {}, {}

local function lose(id, sub)
  lost[#lost + 1] = id
  lost[#lost + 1] = sub.about.tests
  lost[#lost + 1] = sub.attempts
end

local function collect(id, sub)
  returned[#returned + 1] = {id, sub, number(call('HGET', SUB .. id, 'taken'))}
end

-- Starts are reported a moment late, so a submission that ends its worker at once may not be known as started. What
-- three lost workers have held is therefore a suspect, too.
local function is_suspect(id)
  if call('SISMEMBER', STARTED .. worker, id) == 1 then
    return true
  end
  return call('HINCRBY', SUB .. id, 'returns', 1) >= MOST_RETURNS
end

local function take_from_worker(id, sub)
  if is_suspect(id) then
    sub.attempts = sub.attempts + 1
    call('HSET', SUB .. id, 'attempts', sub.attempts)
  end
  if call('SISMEMBER', CANCEL .. worker, id) == 1 and not is_wanted(sub) then
    erase(id, sub)
    tally('cancelled', 1)
  elseif sub.attempts >= most then
    call('HSET', SUB .. id, 'holder', REAPER)
    call('SADD', HELD .. REAPER, id)
    lose(id, sub)
  else
    collect(id, sub)
  end
end

for _, id in ipairs(call('SMEMBERS', held)) do
  local sub = read(id)
  if not sub or sub.holder ~= worker then
    call('SREM', held, id)
  elseif worker == REAPER then
    lose(id, sub)
  else
    take_from_worker(id, sub)
  end
end
table.sort(returned, function(one, other) return one[3] > other[3] end)
for _, each in ipairs(returned) do
  requeue(each[1], each[2])
end
if worker ~= REAPER then
  if #returned > 0 then
    tally('requeued', #returned)
  end
  if deregister(worker) then
    tally('reaped', 1)
  end
end
write_counts()
return lost
