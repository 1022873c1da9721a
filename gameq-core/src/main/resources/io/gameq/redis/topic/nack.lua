-- Gives back messages whose handling failed; makes dead letters of those that failed too often. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of t:<topic>:msg, due, ready, behind, lane:<group>, held, claim, lease, tries, failed, dead, why, fence: see
--   package io.gameq.redis.topic
-- ARGV[1] topic; ARGV[2] attempts after which a message is dead; then for each: id; token; ms until the next attempt; 1 when this
--   attempt counts, 0 when it is nobody's fault, as in an outage: none dies of that; 2 when it was none: then the message stays due when
--   it was, before what came later, and its lane waits, unless more comes into it; when a recurring message that dies is due again, ms, 0
--   for never; error; at most 200 of them
-- Returns for each 1 when it waits for its next attempt; 2 when a newer one waits in its place, or it was deleted; 3 when it is dead; 4
--   when it would be, and there are 10,000 dead letters already: then it waits at least a minute; 0 when the token is not that of the
--   claim any more: nothing is changed of it then.
local FULL_MILLIS = 60000
local slot, topic, most = KEYS[1], ARGV[1], tonumber(ARGV[2])
write_even_when_full(slot)
local t, now, results = topic_key(slot, topic), now_millis(), {}
local was_due = first_due(t)

local function nack(id, claim, delay, attempt, next_due, why)
  local lane, result = lane_of(id), 1
  if attempt ~= '1' then
    claim.attempts = claim.attempts - 1
    if attempt == '2' then
      result = put_back(t, claim, lane, whole(math.min(now, tonumber(claim.due))), why) and 1 or 2
      if result == 1 then redis.call('ZADD', t .. ':due', 'XX', whole(now + delay), lane) end
      return result
    end
  elseif claim.attempts >= most and not claim.deleted then
    if redis.call('HLEN', t .. ':dead') < MOST_DEAD then
      local value = redis.call('HGET', t .. ':held', lane)
      redis.call('HSET', t .. ':dead', id, value)
      redis.call('HSET', t .. ':why', id, whole(now) .. ' ' .. claim.attempts .. ' ' .. why)
      free_lane(t, lane)
      if next_due > 0 then next_due = next_occurrence(t, value, next_due) end
      if next_due > 0 and redis.call('HSETNX', t .. ':msg', id, with_since(value, next_due)) == 1 then set_due(t, id, whole(next_due)) end
      return 3
    end
    delay, result = math.max(delay, FULL_MILLIS), 4
  end
  return put_back(t, claim, lane, whole(now + delay), why) and result or 2
end

for i = 3, #ARGV, 6 do
  local claim = standing_claim(t, ARGV[i], ARGV[i + 1])
  local delay, next_due = tonumber(ARGV[i + 2]), tonumber(ARGV[i + 4])
  results[#results + 1] = claim and nack(ARGV[i], claim, delay, ARGV[i + 3], next_due, ARGV[i + 5]) or 0
end
wake(slot, topic, t, was_due)
return results
