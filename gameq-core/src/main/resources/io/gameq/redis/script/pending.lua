-- Whether anything of a session waits to be flushed. Changes nothing, and is refused on a replica. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, claimed:<owner> HASH
-- ARGV[1] owner; ARGV[2] session
-- Returns {session that owns or '', number of keys, dirty and claimed, that exist}
local slot, owner, session = KEYS[1], ARGV[1], ARGV[2]
refuse_on_a_replica(slot)
return {own(slot, owner) or '', redis.call('EXISTS', dirty_key(slot, owner, session), claimed_key(slot, owner))}
