#!lua flags=allow-oom
-- Does in one call what a worker reports and asks for: steps of submissions that it holds, a beat, a claim. Each may be
-- missing. Runs even when memory is full: an answer must not be lost, and takes less memory than the submission that it
-- replaces.
--
-- ARGV: name, worker, its idle slots; a beat: busy slots or nothing, ready slots; a claim: most or nothing, and with one
-- all slots, longest body, this turn, the last turn whose reply has arrived, the least urgent priority to take, how many
-- to take beyond the share though no slot is idle, how many begin at once, the number of suites that the worker has,
-- these; with steps the seconds that an answer, a fault and a cached answer are kept, then the steps: S id (start) · F id
-- answer cacheable (finish) · B id (give back) · D id (cancelled) · R id (unreadable).
--
-- Returns the ids of the steps that the worker does not hold any more, without a beat and a claim. With one of them it
-- returns need ×3, idle slots of all workers, the priority of the next claim, with a beat how many submissions the worker
-- holds, 1 if the claim gave up after MOST_SWEPT, how many of the claims begin now, the time (two values), the numbers of
-- the following: these ids, ids to cancel, claims; then six values for each claim, id and bytes of suites. All in one
-- list, since Redis takes as long for a list in it as for four values. For a worker that is not registered it returns
-- {'unknown'} after the steps. Ids to cancel are returned again until a step settles them.

local is_beat, is_claim, idle, first_step = ARGV[4] ~= '', ARGV[6] ~= '', number(ARGV[3]), 7
if is_claim then
  first_step = 15 + number(ARGV[14])
end
begin_steps(ARGV, first_step)
if not (is_beat or is_claim) then
  apply_steps(ARGV, first_step + 3)
  write_counts()
  return strangers
end

-- All three are mostly empty, and one EXISTS is cheaper than one look at each.
local some_exist = call('EXISTS', CANCEL_HERE, SUSPECTS, RINGS[0]) > 0
local to_cancel = some_exist and call('SMEMBERS', CANCEL_HERE) or {}
ending = {}
for _, id in ipairs(to_cancel) do
  ending[id] = true
end
apply_steps(ARGV, first_step + 3)
local key = WORKER .. worker
local row = is_beat and call('HMGET', key, 'slots', 'idle', 'turn', 'busy', 'ready_slots')
  or call('HMGET', key, 'slots', 'idle', 'turn')
if not row[1] then
  write_counts()
  return {'unknown'}
end

local counts = call('MGET', WAITING, SLOTS, IDLE)
local waiting, slots, idle_before = number(counts[1]), number(counts[2]), number(row[2])
local begun, time, fields = 0, NO_TIME, {}
begin_claims((some_exist or waiting_change ~= 0) and 0 or 1)
if is_claim then
  begun = claim(ARGV, row[3], idle, waiting + waiting_change, slots)
  if #ids > 0 then
    time = call('TIME')
    add_suites(ARGV, 15, first_step - 1)
    fields = {'turn', ARGV[9], 'given', cmsgpack.pack(ids)}
  end
end

-- what was claimed counts at once, so that others neither give back for these slots nor miss that they are idle
idle = math.max(0, idle - #ids)
if idle ~= idle_before then
  fields[#fields + 1], fields[#fields + 2] = 'idle', whole(idle)
  if call('INCRBY', IDLE, whole(idle - idle_before)) <= 0 then
    call('DEL', IDLE)
  end
end
if is_beat then
  call('HINCRBY', BEATS, worker, '1')
  if ARGV[4] ~= row[4] or ARGV[5] ~= row[5] then
    fields[#fields + 1], fields[#fields + 2] = 'busy', ARGV[4]
    fields[#fields + 1], fields[#fields + 2] = 'ready_slots', ARGV[5]
  end
end
if #fields > 0 then
  call('HSET', key, unpack(fields))
end
write_counts()

waiting = math.max(0, waiting + waiting_change)
local reply = {
  waiting, call('SCARD', WORKERS), slots, math.max(0, number(counts[3]) + idle - idle_before),
  waiting > 0 and most_urgent() or 3, is_beat and call('SCARD', HELD_HERE) or 0, looked >= MOST_SWEPT and 1 or 0, begun,
  time[1], time[2], #strangers, 0, #ids,
}
append(reply, strangers)
for _, id in ipairs(to_cancel) do
  if ending[id] then
    reply[#reply + 1] = id
    reply[12] = reply[12] + 1
  end
end
append(reply, values)
append(reply, suites)
return reply
