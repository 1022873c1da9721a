-- Everything of an owner that is not yet flushed, for a reader without a session. Changes nothing, and is refused on a replica. Runs
-- at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, claimed:<owner> HASH, inboxes:<owner> HASH
-- ARGV[1] owner
-- Returns {dirty rows of the session that owns, claimed rows, rows sent to the owner}, rows as field, value, field, value ...
local slot, owner = KEYS[1], ARGV[1]
refuse_on_a_replica(slot)
local owned_by = redis.call('GET', own_key(slot, owner))
local dirty = {}
if owned_by then dirty = redis.call('HGETALL', dirty_key(slot, owner, owned_by)) end
return {dirty, redis.call('HGETALL', claimed_key(slot, owner)), rows_of_inboxes(slot, owner)}
