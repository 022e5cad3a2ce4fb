#!lua flags=allow-oom
-- Deregisters a worker that leaves, and gives back all that it holds. ARGV: name, worker. Nothing becomes a suspect.

local worker = ARGV[2]
for _, id in ipairs(call('SMEMBERS', HELD .. worker)) do
  local sub = read(id)
  if sub and sub.holder == worker then
    give_back_to_queue(id, sub, call('SISMEMBER', CANCEL .. worker, id) == 1)
  end
end
deregister(worker)
write_counts()
return 0
