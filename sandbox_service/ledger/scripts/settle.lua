#!lua flags=allow-oom
-- What a worker has to say of the submissions it holds, in order. ARGV: name, worker, seconds that an answer, a fault
-- and a cached answer are kept, then steps: S id · F id answer cacheable · B id · D id · R id. It is run even when memory
-- is full: a finished answer must not be lost, and takes less than the submission that goes.
--
-- Returns the ids that were not the worker's any more.

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

-- The submission, if the worker holds it.
local function own(id)
  local sub = read(id)
  if sub and sub.holder == worker then
    return sub
  end
  strangers[#strangers + 1] = id
end

local FAULT, UNSURE = string.byte('F'), string.rep('\0', 16)

-- The answer as it is stored, or nil if it is the answer to another body: that of an earlier life of this id.
local function stored(sub, answer, is_fault)
  local digest = string.sub(answer, 2, 17)
  if is_fault or digest == sub.digest then
    return answer
  elseif digest == UNSURE then
    return string.sub(answer, 1, 1) .. sub.digest .. string.sub(answer, 18)
  end
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

-- `dropped`: it was cancelled, says the worker; otherwise the ledger knows.
local function give_back(id, dropped)
  local cancelled = call('SREM', CANCEL_HERE, id) == 1
  local sub = own(id)
  if sub then
    hand_back(id, sub, dropped or cancelled)
  end
end

-- The worker cannot read it: somebody has written what we do not write. Who waits for it will find it gone.
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
close_books()
return strangers
