#!lua flags=allow-oom
-- What a worker has to say of the submissions it holds, in order. ARGV: name, worker, seconds that an answer, a fault
-- and a cached answer are kept, then steps: S id · F id answer cacheable · B id · D id. It is run even when memory is
-- full: a finished answer must not be lost, and takes less than the submission that goes.
--
-- Returns the ids that were not the worker's any more.

local worker = ARGV[2]
local seconds = {G = ARGV[3], F = ARGV[4]}
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

local UNSURE = string.rep('\0', 16)

-- The answer as it is stored, or nil if it is the answer to another body: that of an earlier life of this id.
local function stored(sub, answer)
  local flag, digest = string.sub(answer, 1, 1), string.sub(answer, 2, 17)
  if flag == 'F' or digest == sub.digest then
    return answer, flag
  elseif digest == UNSURE then
    return flag .. sub.digest .. string.sub(answer, 18), flag
  end
end

local function finish(id, given, cacheable)
  done[#done + 1] = id
  local sub = own(id)
  if not sub then
    tally('duplicates', 1)
    return
  end
  local answer, flag = stored(sub, given)
  if not answer then
    done[#done] = nil
    strangers[#strangers + 1] = id
    tally('duplicates', 1)
    return
  end
  publish(id, sub, answer, seconds[flag])
  if cacheable == '1' and cache_seconds > 0 and sub.cache ~= '' then
    call('SET', CACHE .. sub.cache, answer, 'EX', cache_seconds)
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

local at = 6
while at <= #ARGV do
  local kind, id = ARGV[at], ARGV[at + 1]
  if kind == 'S' then
    starting[#starting + 1] = id
    at = at + 2
  else
    start_all()
    if kind == 'F' then
      finish(id, ARGV[at + 2], ARGV[at + 3])
      at = at + 4
    else
      give_back(id, kind == 'D')
      at = at + 2
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
