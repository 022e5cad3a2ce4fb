-- Steps of a worker: starts, answers, returns. A part of the library for exchange.lua, which describes the arguments.

local worker, answer_seconds, fault_seconds, cache_seconds
local ending  -- ids that the worker must cancel, as keys; nil: not read
local HELD_HERE, STARTED_HERE, CANCEL_HERE
local strangers, done, starting

-- Begins a call of a worker, whose steps are kept for as long as the arguments from `at` on say.
local function begin_steps(ARGV, at)
  worker, answer_seconds, fault_seconds, cache_seconds = ARGV[2], ARGV[at], ARGV[at + 1], number(ARGV[at + 2])
  ending = nil
  HELD_HERE, STARTED_HERE, CANCEL_HERE = HELD .. worker, STARTED .. worker, CANCEL .. worker
  strangers, done, starting = {}, {}, {}
end

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

local FAULT = 70  -- the letter F

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
  if ending then
    ending[id] = nil
  end
  local sub = own(id)
  if sub then
    give_back_to_queue(id, sub, dropped or cancelled)
  end
end

-- Deletes a submission that the worker cannot read, because another program has written it.
local function drop_unreadable(id)
  local sub = own(id)
  if sub then
    done[#done + 1] = id
    erase(id, sub)
    tally('refused', 1)
  end
end

-- Removes what is done from the sets of the worker.
local function clear_done()
  call('SREM', HELD_HERE, unpack(done))
  call('SREM', STARTED_HERE, unpack(done))
  if ending == nil or next(ending) then
    call('SREM', CANCEL_HERE, unpack(done))
    for _, id in ipairs(ending and done or {}) do
      ending[id] = nil
    end
  end
end

-- Applies the steps from an argument on, in order.
local function apply_steps(ARGV, at)
  while at <= #ARGV do
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
        drop_unreadable(id)
      else
        give_back(id, kind == 'D')
      end
    end
  end
  start_all()
  if #done > 0 then
    clear_done()
  end
end
