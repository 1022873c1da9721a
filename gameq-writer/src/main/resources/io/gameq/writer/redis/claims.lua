-- Put in front of the writer's scripts, after slot.lua: the record of a claim.
-- {ns:slot}:claim holds owner -> 'token session attempts writer'; token '-' means not claimed now, attempts remembered.
local function claim_of(slot, owner)
  local record = redis.call('HGET', slot .. ':claim', owner)
  if not record then return nil end
  local token, session, attempts, writer = string.match(record, '^(%S+) (%S+) (%d+) (%S+)$')
  return {token = token, session = session, attempts = tonumber(attempts), writer = writer}
end

local function remember(slot, owner, token, session, attempts, writer)
  redis.call('HSET', slot .. ':claim', owner, table.concat({token, session, attempts, writer}, ' '))
end

-- Puts claimed rows back under the newest session, never over a newer row, due at 'when' (ms).
local function give_back(slot, owner, claim, attempts, when)
  local session = claim.session
  local owned_by = redis.call('GET', own_key(slot, owner))
  if owned_by and owned_by > session then session = owned_by end
  merge(claimed_key(slot, owner), dirty_key(slot, owner, session))
  redis.call('ZREM', slot .. ':lease', owner)
  redis.call('LREM', slot .. ':inflight:' .. claim.writer, 1, member(owner, claim.session))
  remember(slot, owner, '-', session, attempts, claim.writer)
  redis.call('ZADD', slot .. ':due', 'LT', when, member(owner, session))
end
