-- A process says how it is, for operators; nothing else depends on it. Runs at maxmemory, as its first write is a DEL.
-- KEYS[1] 'ns:process:<id>' HASH: what it says, by name; KEYS[2] 'ns:processes' ZSET: ids, by when they said something, ms of Redis TIME;
-- KEYS[3] 'ns:clock' STRING: the latest Redis TIME at which one did, ms; it does not go back
-- ARGV[1] id; ARGV[2] how long it is kept, s; ARGV[3] most processes that are kept; ARGV[4] what its host's clock says, ms; ARGV[5...]
--   name, value, name, value... It gets 'ahead' as well: by how much that clock is ahead of Redis', ms
-- Returns {known}: 1 when what it said before was there, else 0.
local now = now_millis()
local known = redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'ahead', string.format('%.0f', ARGV[4] - now), unpack(ARGV, 5))
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 1000)
redis.call('ZADD', KEYS[2], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[2] * 1000)
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -ARGV[3] - 1)
local latest = math.max(now, tonumber(redis.call('GET', KEYS[3])) or 0)
redis.call('SET', KEYS[3], string.format('%.0f', latest), 'EX', ARGV[2])
return {known}
