-- Ends a session: its own key expires once nothing of the owner is dirty or claimed (at once, or by the last ack). It is kept
-- for a while so that a check of MySQL that is followed by a late re-assert of an older session is still refused.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, claimed:<owner> HASH, closing SET, due ZSET
-- ARGV[1] owner; ARGV[2] session; ARGV[3] how long the own key is kept, ms
-- Returns 1, or 0 when another session owns: then nothing is changed.
local slot, owner, session = KEYS[1], ARGV[1], ARGV[2]
if redis.call('GET', own_key(slot, owner)) ~= session then return 0 end
if redis.call('EXISTS', dirty_key(slot, owner, session), claimed_key(slot, owner)) == 0 then
  redis.call('PEXPIRE', own_key(slot, owner), ARGV[3])
else
  write_even_when_full(slot)
  redis.call('SADD', slot .. ':closing', owner)
  redis.call('ZADD', slot .. ':due', 'XX', 'LT', now_millis(), member(owner, session))
end
return 1
