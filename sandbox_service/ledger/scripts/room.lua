#!lua flags=no-writes
-- Whether a client's bounds leave room. ARGV: name, client, three figures, three bounds. Returns {'ok'} or {'full', …}.

local wanted = {number(ARGV[3]), number(ARGV[4]), number(ARGV[5])}
return over(ARGV[2], wanted, {number(ARGV[6]), number(ARGV[7]), number(ARGV[8])}) or {'ok'}
