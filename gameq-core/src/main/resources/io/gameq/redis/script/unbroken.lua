-- Takes down that some node gives a sign of life, and tells since when that went on without a break. Runs at maxmemory, as its first
-- write is a DEL.
-- KEYS[1] 'ns:nodes' STRING: since when, ms of Redis TIME; expires with a break
-- ARGV[1] the longest pause that is no break, ms
-- Returns {how long it went on without a break, ms}.
local now = now_millis()
local since = math.min(now, tonumber(redis.call('GET', KEYS[1])) or now)
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], since, 'PX', ARGV[1])
return {now - since}
