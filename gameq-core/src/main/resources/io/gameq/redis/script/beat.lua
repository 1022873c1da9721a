-- A node process gives a sign of life. Runs at maxmemory, as its first write is a DEL: a full Redis does not make nodes look dead.
-- KEYS[1] 'ns:node:<process>' STRING: the node's name, with '?' behind it until the node has healed on this server
-- ARGV[1] what to put there; ARGV[2] how long it is to stay, s
-- Returns {1, or 0 when the sign before was gone; Redis TIME, ms}.
local was = redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return {was, now_millis()}
