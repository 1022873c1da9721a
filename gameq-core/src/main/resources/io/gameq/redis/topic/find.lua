-- Where one message is. Changes nothing, and is refused on a replica. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of t:<topic>:msg, due, ready, behind, lane:<group>, held, claim, lease, tries, failed, dead, why: see
--   package io.gameq.redis.topic
-- ARGV[1] topic; ARGV[2] id
-- Returns {pending value; when it is due, ms; 'attempts lapses' so far; value that is held; attempts, this one counted, leases that ran
--   out, and node of its claim, {} when it is not held; end of its lease, ms; dead value; 'ms attempts error'; why the
--   pending one is back}, each '' when there is none.
local slot, id = KEYS[1], ARGV[2]
refuse_on_a_replica(slot)
local t, lane = topic_key(slot, ARGV[1]), lane_of(id)
local value = redis.call('HGET', t .. ':msg', id)
local due
if value and is_grouped(id) then
  due = redis.call('ZSCORE', lane_key(t, lane), id)
elseif value then
  due = redis.call('ZSCORE', t .. ':due', id)
  local behind, ready = redis.call('ZSCORE', t .. ':behind', id), redis.call('ZSCORE', t .. ':ready', id)
  if behind and (not due or tonumber(behind) < tonumber(due)) then due = behind end
  if ready then due = whole(tonumber(ready) + priority_of(value) * tonumber(redis.call('GET', t .. ':age') or 0)) end
end
local held, tries = held_value(t, id), redis.call('HGET', t .. ':tries', id)
local claim = held and lane_claim(t, lane)
return {
  value or '', due or '', tries or '',
  held or '', claim and {claim.attempts, claim.lapses, claim.node} or {}, held and redis.call('ZSCORE', t .. ':lease', lane) or '',
  redis.call('HGET', t .. ':dead', id) or '', redis.call('HGET', t .. ':why', id) or '',
  tries and redis.call('HGET', t .. ':failed', id) or ''}
