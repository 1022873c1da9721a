-- Put in front of the writer's scripts, after slot.lua: the record of a claim.
-- {ns:slot}:claim HASH owner -> 'token session attempts lapses since writer': attempts are claims since the last ack but for outages,
-- lapses those whose lease ran out, since is when MySQL first refused a row (ms, 0 if never); token '-' means not claimed now, only
-- remembered.
local function claim_of(slot, owner)
  local record = redis.call('HGET', slot .. ':claim', owner)
  if not record then return nil end
  local token, session, attempts, lapses, since, writer = string.match(record, '^(%S+) (%S+) (%d+) (%d+) (%d+) (%S+)$')
  return {token = token, session = session, attempts = tonumber(attempts), lapses = tonumber(lapses), since = since, writer = writer}
end

local function remember(slot, owner, claim)
  local record = {claim.token, claim.session, claim.attempts, claim.lapses, claim.since, claim.writer}
  redis.call('HSET', slot .. ':claim', owner, table.concat(record, ' '))
end

-- Whether the owner was to be claimed as urgent while somebody had claimed it: what it has dirty is due at 0 then. Forgets it.
local function was_urgent(slot, owner) return redis.pcall('SREM', slot .. ':urgent', owner) == 1 end

-- The session under which rows of a claim go back: the newest that is known.
local function newest_session(slot, owner, claim)
  local owned_by = owner_of(slot, owner)
  return owned_by and owned_by > claim.session and owned_by or claim.session
end

local function end_lease(slot, owner, claim)
  redis.call('ZREM', slot .. ':lease', owner)
  redis.call('LREM', slot .. ':inflight:' .. claim.writer, -1, member(owner, claim.session))
end

-- Whether claimed rows can go back; to be asked before anything is changed. Else they stay claimed, and are looked at again when their
-- lease ends.
local function can_go_back(slot, owner, claim)
  return not (wrong_type(claimed_key(slot, owner)) or wrong_type(dirty_key(slot, owner, newest_session(slot, owner, claim))))
end

-- Puts claimed rows back under the newest session, never over a newer row, due at 'when' (ms).
local function give_back(slot, owner, claim, when)
  end_lease(slot, owner, claim)
  claim.token, claim.session = '-', newest_session(slot, owner, claim)
  merge(claimed_key(slot, owner), dirty_key(slot, owner, claim.session))
  remember(slot, owner, claim)
  was_urgent(slot, owner) -- it waits for 'when' now, as all that is given back
  redis.call('ZADD', slot .. ':due', 'LT', when, member(owner, claim.session))
end
