-- Publishes a look at the backlog, and ends the turn of whoever looked. Runs at maxmemory, as its first write is a DEL.
-- KEYS[1] 'ns:backlog' HASH; see backlog.lua
-- ARGV[1] how long the key lives, ms; then text name, text, text name, text ...
-- Returns {when it was published, ms of Redis TIME, as text}
local at = string.format('%.0f', now_millis())
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'at', at, unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return {at}
