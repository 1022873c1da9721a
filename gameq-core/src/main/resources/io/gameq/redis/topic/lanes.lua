-- Put in front of the scripts of consumers, after topic.lua: how a message comes back that was taken and not acknowledged.
-- {ns:slot}:t:<topic>:tries HASH id -> 'attempts lapses' of a pending message that was taken before; failed HASH id -> why it is back
local MOST_DEAD, MOST_WHY = 10000, 200

-- Whether this token is still that of the claim; returns the claim, or nil.
local function standing_claim(t, id, token)
  local claim = lane_claim(t, lane_of(id))
  return claim and claim.id == id and claim.token == token and claim or nil
end

-- Puts a message that is held back to wait until 'when', unless a newer one is pending, which is due then and begins anew, or it was
-- deleted. Returns whether it waits.
local function put_back(t, claim, lane, when, why)
  local value = redis.call('HGET', t .. ':held', lane)
  local waits = value and not claim.deleted and redis.call('HSETNX', t .. ':msg', claim.id, value) == 1
  free_lane(t, lane)
  if waits then
    redis.call('HSET', t .. ':tries', claim.id, claim.attempts .. ' ' .. claim.lapses)
    set_due(t, claim.id, when)
    redis.call('HSET', t .. ':failed', claim.id, string.sub(why, 1, MOST_WHY))
  end
  return waits
end
