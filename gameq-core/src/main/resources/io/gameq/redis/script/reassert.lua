-- Tells Redis again which session owns, after Redis lost it; the caller has read in MySQL that it does. Adopts nothing: what
-- older sessions left is parked by the next claim. Refused when a newer session owns. Runs at maxmemory.
-- A session that Redis did not know may have adopted rows that Redis lost: until its node says otherwise (healed.lua), they are to come.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, due ZSET, closing SET, healing SET
-- ARGV[1] owner; ARGV[2] session; ARGV[3] 1 when its node may have rows to put back, 0 for a session that nobody has
-- Returns {1}, or {0, session that owns}. Publishes to the node of an older session that owned that it does no more: see tell_lost.
local slot, owner, session = KEYS[1], ARGV[1], ARGV[2]
local owned_by = owner_of(slot, owner)
if owned_by and owned_by > session then return {0, owned_by} end
write_even_when_full(slot)
if owned_by ~= session then
  -- Its due entry may have been dropped while another writer flushed this owner: no ack makes a session due that owns no more.
  if owned_by and redis.call('EXISTS', dirty_key(slot, owner, owned_by)) == 1 then
    redis.call('ZADD', slot .. ':due', 'LT', now_millis(), member(owner, owned_by))
  end
  redis.call('SET', own_key(slot, owner), session)
  if owned_by then tell_lost(slot, owner, owned_by) end
  redis.call('SREM', slot .. ':closing', owner) -- that was the session before
  if ARGV[3] == '1' then redis.call('SADD', slot .. ':healing', owner) end
end
return {1}
