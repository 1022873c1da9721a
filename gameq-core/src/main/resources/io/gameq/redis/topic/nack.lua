-- Gives back messages whose handling failed; makes dead letters of those that failed too often. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of t:<topic>:msg, due, ready, behind, lane:<group>, held, claim, lease, tries, failed, dead, why, fence: see
--   package io.gameq.redis.topic
-- ARGV[1] topic; ARGV[2] attempts after which a message is dead; then for each: id; token; ms until the next attempt, negative or 0 of one
--   that keeps its place in its group, which waits for so long; 1 when this attempt counts, 0 when it is nobody's fault, as in an outage:
--   none dies of that; when a recurring message that dies is due again, ms, 0 for never; error; at most 200 of them
-- Returns for each 1 when it waits for its next attempt; 2 when a newer one waits in its place, or it was deleted; 3 when it is dead; 4
--   when it would be, and there are 10,000 dead letters already: then it waits at least a minute; 0 when the token is not that of the
--   claim any more: nothing is changed of it then.
local FULL_MILLIS = 60000
local slot, topic, most = KEYS[1], ARGV[1], tonumber(ARGV[2])
write_even_when_full(slot)
local t, now, results = topic_key(slot, topic), now_millis(), {}
local was_due = first_due(t)

local function nack(id, claim, delay, counts, next_due, why)
  local lane, result = lane_of(id), 1
  if not counts then
    claim.attempts = claim.attempts - 1
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
  local keeps_place = not counts and delay <= 0 and is_grouped(id)
  local when = keeps_place and math.min(now, tonumber(claim.due)) or now + math.abs(delay)
  if not put_back(t, claim, lane, whole(when), why) then result = 2 end
  if keeps_place and delay < 0 then redis.call('ZADD', t .. ':due', 'XX', whole(now - delay), lane) end
  return result
end

for i = 3, #ARGV, 6 do
  local claim = standing_claim(t, ARGV[i], ARGV[i + 1])
  local counts, next_due = ARGV[i + 3] == '1', tonumber(ARGV[i + 4])
  results[#results + 1] = claim and nack(ARGV[i], claim, tonumber(ARGV[i + 2]), counts, next_due, ARGV[i + 5]) or 0
end
wake(slot, topic, t, was_due)
return results
