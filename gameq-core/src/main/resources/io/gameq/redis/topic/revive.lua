-- Retries or discards a dead letter. A retry is refused at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of t:<topic>:msg, due, ready, behind, lane:<group>, dead, why: see package io.gameq.redis.topic
-- ARGV[1] topic; ARGV[2] id; ARGV[3] version that it has to have, 16 hex digits; ARGV[4] retry or discard; ARGV[5] payload in place of
--   its own, ARGV[6] 1 if there is one, else 0
-- Returns {1}; {0} when there is no such dead letter of this version; {2} when a newer message of this id is pending or held: nothing is
--   changed then.
local slot, topic, id = KEYS[1], ARGV[1], ARGV[2]
local t = topic_key(slot, topic)
local value = redis.call('HGET', t .. ':dead', id)
if not value or version_of(value) ~= ARGV[3] then return {0} end
if ARGV[4] == 'retry' then
  if redis.call('HEXISTS', t .. ':msg', id) == 1 or held_value(t, id) then return {2} end
  local was_due, now = first_due(t), now_millis()
  if ARGV[6] == '1' then -- another message, which whoever handled the old one cannot acknowledge
    value = next_version(version_of(value)) .. string.sub(value, 17, 30 + struct.unpack('>H', value, 29)) .. ARGV[5]
  end
  redis.call('HSET', t .. ':msg', id, is_recurring(value) and value or with_since(value, now))
  set_due(t, id, whole(now))
  wake(slot, topic, t, was_due)
end
redis.call('HDEL', t .. ':dead', id)
redis.call('HDEL', t .. ':why', id)
return {1}
