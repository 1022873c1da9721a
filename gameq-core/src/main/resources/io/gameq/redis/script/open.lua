-- Makes a session the one that may write an owner's rows, adopts what the session before it left dirty, and returns
-- everything that is not yet flushed. Refused when a newer session owns. Safe to repeat. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, claimed:<owner> HASH, due ZSET, closing SET,
--   healing SET, inboxes:<owner> HASH
-- ARGV[1] owner; ARGV[2] session; ARGV[3] merge window, ms; ARGV[4] 1 when rows that an attempt before had adopted, and Redis may
--   have lost, are still to come: of a node that is gone or late, or about to put them back; see reassert.lua
-- Returns {1, dirty rows, claimed rows, rows sent to the owner}, rows as field, value, field, value ...; or {0, session that owns};
--   or the error WRONGTYPE, naming the key, when somebody else wrote into the owner's keys. Nothing was written in both cases.
-- Publishes to the node of the session that owned until now that it does no more: see tell_lost.
local slot, owner, session = KEYS[1], ARGV[1], ARGV[2]
local owned_by = redis.call('GET', own_key(slot, owner))
if owned_by and owned_by > session then return {0, owned_by} end
-- Before anything is written: else each attempt would rename the broken key and fail after it took the owner over.
for _, key in ipairs({dirty_key(slot, owner, owned_by or session), dirty_key(slot, owner, session), claimed_key(slot, owner)}) do
  local wrong = wrong_type(key)
  if wrong then return redis.error_reply(wrong) end
end
local sent = rows_of_inboxes(slot, owner)
write_even_when_full(slot)
local dirty = dirty_key(slot, owner, session)
local now, due = now_millis(), slot .. ':due'
local flush_at = now + ARGV[3]
if owned_by and owned_by ~= session then
  merge(dirty_key(slot, owner, owned_by), dirty)
  -- What waits already does not wait longer for a new session; without an entry it is due.
  flush_at = math.min(flush_at, tonumber(redis.call('ZSCORE', due, member(owner, owned_by))) or now)
  redis.call('ZREM', due, member(owner, owned_by))
  tell_lost(slot, owner, owned_by)
end
redis.call('SET', own_key(slot, owner), session)
redis.call('SREM', slot .. ':closing', owner)
if ARGV[4] ~= '1' then
  redis.call('SREM', slot .. ':healing', owner)
elseif owned_by ~= session then
  redis.call('SADD', slot .. ':healing', owner)
end
local rows = redis.call('HGETALL', dirty)
if #rows > 0 then redis.call('ZADD', due, 'NX', flush_at, member(owner, session)) end
return {1, rows, redis.call('HGETALL', claimed_key(slot, owner)), sent}
