#!lua flags=allow-oom
-- with steps claims
-- Does in one call what a worker reports and asks for: steps of submissions that it holds, a beat, a claim. Each may be
-- missing. Runs even when memory is full: an answer must not be lost, and takes less memory than the submission that it
-- replaces.
--
-- ARGV: name, worker, seconds that an answer, a fault and a cached answer are kept; a beat: 1 or nothing, busy, ready
-- and idle slots; a claim: most or nothing, all slots, longest body, this turn, the last turn whose reply has arrived,
-- the least urgent priority to take, how many to take beyond the share though no slot is idle, how many begin at once,
-- the number of suites that the worker has, these; then the steps: S id (start) · F id answer cacheable (finish) · B id
-- (give back) · D id (cancelled) · R id (unreadable).
--
-- Returns {'ok', ids of the steps that the worker does not hold any more} without a beat and a claim. With one of them,
-- these follow: need ×3, idle slots of all workers, the priority of the next claim, ids to cancel, 1 if the claim gave
-- up after MOST_SWEPT, the time, how many of the claims begin now, six values for each claim, id and bytes of suites,
-- and with a beat how many submissions the worker holds. For a worker that is not registered it returns {'unknown'}
-- after the steps. Ids to cancel are returned again until a step settles them.

local is_beat, is_claim, idle = ARGV[6] == '1', ARGV[10] ~= '', number(ARGV[9])
local known, first_step = {}, 19 + number(ARGV[18])
for each = 19, first_step - 1 do
  known[ARGV[each]] = true
end

if not (is_beat or is_claim) then
  apply_steps(first_step)
  write_counts()
  return {'ok', strangers}
end

ending = {}
for _, id in ipairs(call('SMEMBERS', CANCEL_HERE)) do
  ending[id] = true
end
apply_steps(first_step)
if call('SISMEMBER', WORKERS, worker) == 0 then
  write_counts()
  return {'unknown'}
end

local row = call('HMGET', WORKER .. worker, 'turn', 'given', 'idle', 'busy', 'ready_slots')
local counts = call('MGET', WAITING, SLOTS, IDLE)
local waiting, slots, idle_before = number(counts[1]), number(counts[2]), number(row[3])
local begun, fields = 0, {}
if is_claim then
  begun = claim(row, idle, number(ARGV[11]), waiting + waiting_change, slots)
  if #ids > 0 then
    add_suites(known)
    fields = {'turn', ARGV[13], 'given', cmsgpack.pack(ids)}
  end
end

-- what was claimed counts at once, so that others neither give back for these slots nor miss that they are idle
idle = math.max(0, idle - #ids)
if idle ~= idle_before then
  fields[#fields + 1], fields[#fields + 2] = 'idle', idle
  if call('INCRBY', IDLE, idle - idle_before) <= 0 then
    call('DEL', IDLE)
  end
end
if is_beat then
  call('HINCRBY', BEATS, worker, 1)
  if ARGV[7] ~= row[4] or ARGV[8] ~= row[5] then
    fields[#fields + 1], fields[#fields + 2] = 'busy', ARGV[7]
    fields[#fields + 1], fields[#fields + 2] = 'ready_slots', ARGV[8]
  end
end
if #fields > 0 then
  call('HSET', WORKER .. worker, unpack(fields))
end
write_counts()

waiting = math.max(0, waiting + waiting_change)
local to_cancel = {}
for id in pairs(ending) do
  to_cancel[#to_cancel + 1] = id
end
return {
  'ok', strangers, waiting, call('SCARD', WORKERS), slots, math.max(0, number(counts[3]) + idle - idle_before),
  waiting > 0 and most_urgent() or 3, to_cancel, looked >= MOST_SWEPT and 1 or 0, exact(clock()), begun,
  values, suites, is_beat and call('SCARD', HELD_HERE) or 0,
}
