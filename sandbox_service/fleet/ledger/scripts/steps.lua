#!lua flags=allow-oom
-- Applies steps of a worker to submissions that it holds, in order: starts, answers, returns. ARGV: name, worker,
-- seconds that an answer, a fault and a cached answer are kept, then steps: S id (start) · F id answer cacheable
-- (finish) · B id (give back) · D id (cancelled) · R id (unreadable). Runs even when memory is full: an answer must not
-- be lost, and takes less memory than the submission that it replaces.
--
-- Returns the ids that the worker does not hold any more.

local worker = ARGV[2]
local answer_seconds, fault_seconds = ARGV[3], ARGV[4]
local cache_seconds = number(ARGV[5])
local HELD_HERE, STARTED_HERE, CANCEL_HERE = HELD .. worker, STARTED .. worker, CANCEL .. worker
local strangers, done, starting = {}, {}, {}

local function start_all()
  if #starting == 0 then
    return
  end
  local held, own = call('SMISMEMBER', HELD_HERE, unpack(starting)), {}
  for each, id in ipairs(starting) do
    local list = held[each] == 1 and own or strangers
    list[#list + 1] = id
  end
  if #own > 0 then
    call('SADD', STARTED_HERE, unpack(own))
  end
  starting = {}
end

-- Returns the submission, if the worker holds it.
local function own(id)
  local sub = read(id)
  if sub and sub.holder == worker then
    return sub
  end
  strangers[#strangers + 1] = id
end

local FAULT = string.byte('F')

-- Returns the answer as it is stored; nil if it answers another body, which had the same id before.
local function stored(sub, answer, is_fault)
  local signed = with_digest(sub, answer)
  return (is_fault or string.sub(signed, 2, 17) == sub.digest) and signed or nil
end

local function finish(id, given, cacheable)
  done[#done + 1] = id
  local sub = own(id)
  if not sub then
    tally('duplicates', 1)
    return
  end
  local is_fault = string.byte(given) == FAULT
  local answer = stored(sub, given, is_fault)
  if not answer then
    done[#done] = nil
    strangers[#strangers + 1] = id
    tally('duplicates', 1)
    return
  end
  publish(id, sub, answer, is_fault and fault_seconds or answer_seconds)
  local place = cacheable == '1' and cache_seconds > 0 and shared(sub.digest, sub.about)
  if place then
    call('SET', place, answer, 'EX', cache_seconds)
  end
  erase(id, sub)
  if worker == REAPER then
    tally('lost', 1)
  end
end

-- `dropped`: the worker reports a cancellation; otherwise the ledger knows of it.
local function give_back(id, dropped)
  local cancelled = call('SREM', CANCEL_HERE, id) == 1
  local sub = own(id)
  if sub then
    give_back_to_queue(id, sub, dropped or cancelled)
  end
end

-- Deletes a submission that the worker cannot read, because another program has written it.
local function refuse(id)
  local sub = own(id)
  if sub then
    done[#done + 1] = id
    erase(id, sub)
    tally('refused', 1)
  end
end

local at, last = 6, #ARGV
while at <= last do
  local kind, id = ARGV[at], ARGV[at + 1]
  at = at + 2
  if kind == 'S' then
    starting[#starting + 1] = id
  else
    start_all()
    if kind == 'F' then
      finish(id, ARGV[at], ARGV[at + 1])
      at = at + 2
    elseif kind == 'R' then
      refuse(id)
    else
      give_back(id, kind == 'D')
    end
  end
end
start_all()
if #done > 0 then
  call('SREM', HELD_HERE, unpack(done))
  call('SREM', STARTED_HERE, unpack(done))
  call('SREM', CANCEL_HERE, unpack(done))
end
write_counts()
return strangers
