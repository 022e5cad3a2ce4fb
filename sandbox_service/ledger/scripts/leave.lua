#!lua flags=allow-oom
-- A worker goes and gives back all that it holds. ARGV: name, worker. What it had started is nobody's suspect.

local worker = ARGV[2]
for _, id in ipairs(call('SMEMBERS', HELD .. worker)) do
  local sub = read(id)
  if sub and sub.holder == worker then
    hand_back(id, sub, call('SISMEMBER', CANCEL .. worker, id) == 1)
  end
end
deregister(worker)
close_books()
return 0
