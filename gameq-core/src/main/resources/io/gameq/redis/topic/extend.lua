-- Prolongs leases of messages that are held. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of t:<topic>:claim HASH, t:<topic>:lease ZSET
-- ARGV[1] topic; ARGV[2] lease from now on, ms; then for each: id; token; at most 1,000 of them
-- Returns for each 1, or 0 when the token is not that of the claim any more: nothing is changed of it then.
local slot = KEYS[1]
write_even_when_full(slot)
local t, deadline, results = topic_key(slot, ARGV[1]), now_millis() + tonumber(ARGV[2]), {}
for i = 3, #ARGV, 2 do
  local stands = standing_claim(t, ARGV[i], ARGV[i + 1])
  if stands then redis.call('ZADD', t .. ':lease', deadline, lane_of(ARGV[i])) end
  results[#results + 1] = stands and 1 or 0
end
return results
