-- Of which owners Redis holds nothing: no session, nothing dirty, claimed, parked, sent or to come. Changes nothing; refused on a replica.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, claimed:<owner> HASH, inboxes:<owner> HASH, closing
--   SET, healing SET, stale SET
-- ARGV: for each owner, its id; its newest session; the session before it, or ''; at most 200 owners
-- Returns for each 1 when nothing is there, 2 when nothing is but its newest session, which was not closed, else 0; 0 for all while more
--   than 1,000 dirty hashes are parked in the slot, or somebody else's value is in the way.
local slot = KEYS[1]
refuse_on_a_replica(slot)
local stale, parked, cursor = slot .. ':stale', {}, '0'
local count = redis.pcall('SCARD', stale)
local all_are_used = type(count) ~= 'number' or count > 1000
while not all_are_used do
  local found = redis.call('SSCAN', stale, cursor, 'COUNT', 1000)
  for _, dirty in ipairs(found[2]) do parked[string.match(dirty, ':dirty:([^:]*):[^:]*$') or ''] = true end
  cursor = found[1]
  if cursor == '0' then break end
end

local function is_in(set, owner) return redis.pcall('SISMEMBER', slot .. set, owner) ~= 0 end

local function state_of(owner, session, before)
  local rows = redis.call('EXISTS', claimed_key(slot, owner), dirty_key(slot, owner, session), dirty_key(slot, owner, before),
    slot .. ':inboxes:' .. owner)
  if all_are_used or rows > 0 or parked[owner] or is_in(':closing', owner) or is_in(':healing', owner) then return 0 end
  local left = redis.call('PTTL', own_key(slot, owner))
  if left == -2 then return 1 end
  return left == -1 and owner_of(slot, owner) == session and 2 or 0
end

local reply = {}
for i = 1, #ARGV, 3 do reply[#reply + 1] = state_of(ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
return reply
