-- Grants messages of the rate that all nodes of a topic share, or takes back grants that were not used. Runs at maxmemory.
-- KEYS[1] '{ns:0}', prefix of t:<topic>:rate STRING 'messages millis'
-- ARGV[1] topic; ARGV[2] messages a second; ARGV[3] most, negative for grants that come back
-- Returns {how many are granted, negative for those taken back; ms until another one is}
local BURST_SECONDS = 0.1
local slot, topic, rate, most = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
write_even_when_full(slot)
local key, now, burst = topic_key(slot, topic) .. ':rate', now_millis(), math.max(1, rate * BURST_SECONDS)
local left, at = string.match(redis.call('GET', key) or '', '^(%S+) (%d+)$')
left = left and math.min(burst, tonumber(left) + math.max(0, now - at) / 1000 * rate) or burst -- a clock can go back
local granted = math.min(most, math.floor(left))
left = math.min(burst, left - granted)
redis.call('SET', key, string.format('%.9f %.0f', left, now))
return {granted, left >= 1 and 0 or math.ceil((1 - left) / rate * 1000)}
