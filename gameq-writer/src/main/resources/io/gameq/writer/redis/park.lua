-- Parks the rows of a session that lost ownership, for an operator, once the messages that they handled are given back. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, due ZSET, stale SET
-- ARGV[1] owner; ARGV[2] session
-- Returns {1} when they were parked now; {0} when another writer has done so, or it owns again, or nothing is there.
local slot, owner, session = KEYS[1], ARGV[1], ARGV[2]
local dirty, owned_by = dirty_key(slot, owner, session), owner_of(slot, owner)
if not owned_by or owned_by <= session then return {0} end
write_even_when_full(slot)
redis.call('ZREM', slot .. ':due', member(owner, session))
if redis.call('EXISTS', dirty) == 0 then return {0} end
return {redis.call('SADD', slot .. ':stale', dirty)}
