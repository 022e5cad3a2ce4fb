#!lua flags=allow-oom
-- Finds suites that are not stored, and keeps the others for so long. ARGV: name, seconds, suites. Returns the missing.

local missing = {}
for each = 3, #ARGV do
  local key = PREFIX .. 'suite:' .. ARGV[each]
  if call('EXISTS', key) == 0 then
    missing[#missing + 1] = ARGV[each]
  else
    call('EXPIRE', key, ARGV[2], 'GT')
  end
end
return missing
