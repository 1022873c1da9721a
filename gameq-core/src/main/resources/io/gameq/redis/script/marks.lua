-- Writes journal marks of a WAL, once Redis holds what they prove: see class JournalMarks. Runs at maxmemory.
-- KEYS[i] '{ns:slot}', prefix of: journal HASH
-- ARGV[1] WAL id; ARGV[1 + i] mark of KEYS[i]
-- Returns {}.
write_even_when_full(KEYS[1])
for i, slot in ipairs(KEYS) do redis.call('HSET', slot .. ':journal', ARGV[1], ARGV[1 + i]) end
return {}
