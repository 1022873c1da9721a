-- A page of the lanes in which messages wait, or are held, in the order of their times. Changes nothing, and is refused on a replica.
-- Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of t:<topic>:msg, due, ready, unhandled, lane:<group>, held, claim, lease, tries, failed: see
--   package io.gameq.redis.topic
-- ARGV[1] topic; ARGV[2] due, ready, unhandled or lease, or lane:<group>; ARGV[3] how many to leave out; ARGV[4] most, at most 1,000
-- Returns for each {id; score: when due, priority counted in for ready, or the end of the lease, ms; value or ''; how many messages wait
--   behind it in its group; attempts, of what is held this one counted; node that holds it, else ''; why it is back, else ''}.
local slot, place = KEYS[1], ARGV[2]
refuse_on_a_replica(slot)
local t, found = topic_key(slot, ARGV[1]), {}
local first = tonumber(ARGV[3])
local range = redis.call('ZRANGE', t .. ':' .. place, first, first + tonumber(ARGV[4]) - 1, 'WITHSCORES')
for i = 1, #range, 2 do
  local lane, id, more, claim = range[i], range[i], 0, nil
  if place == 'lease' then
    claim = lane_claim(t, lane)
    id = claim and claim.id or lane
  elseif string.sub(lane, -1) == ':' then
    id = redis.call('ZRANGE', lane_key(t, lane), 0, 0)[1] or lane
    more = math.max(0, redis.call('ZCARD', lane_key(t, lane)) - 1)
  end
  local value, tries
  if place == 'lease' then
    value = redis.call('HGET', t .. ':held', lane)
  else
    value, tries = redis.call('HGET', t .. ':msg', id), redis.call('HGET', t .. ':tries', id)
  end
  found[#found + 1] = {
    id, range[i + 1], value or '', more, claim and claim.attempts or tries and tonumber(string.match(tries, '^%d+')) or 0,
    claim and claim.node or '', tries and redis.call('HGET', t .. ':failed', id) or ''}
end
return found
