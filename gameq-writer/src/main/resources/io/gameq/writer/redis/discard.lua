-- Discards what a session committed after it had lost ownership. Removes only, so it runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: stale SET, own:<owner> STRING, dirty:<owner>:<session> HASH
-- ARGV[1] owner; ARGV[2] session
-- Returns {1, field, version, field, version ...} of the rows that are gone, versions as 16 hex digits; {0} when the session is not
--   among the stale ones (any more); {-1} when it owns, which Redis may come to believe again by a failover: its rows will be flushed.
--   Then nothing is changed.
local slot, owner, session = KEYS[1], ARGV[1], ARGV[2]
local dirty = dirty_key(slot, owner, session)
if redis.call('SISMEMBER', slot .. ':stale', dirty) == 0 then return {0} end
if redis.call('GET', own_key(slot, owner)) == session then return {-1} end
local reply, rows = {1}, redis.call('HGETALL', dirty)
for i = 1, #rows, 2 do
  reply[i + 1] = rows[i]
  reply[i + 2] = string.sub(rows[i + 1], 1, 16)
end
redis.call('DEL', dirty)
redis.call('SREM', slot .. ':stale', dirty)
return reply
