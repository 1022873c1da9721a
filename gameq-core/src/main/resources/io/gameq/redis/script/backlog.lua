-- Asks for the backlog that somebody published last; whoever finds it old is told to look and publish, one at a time. Runs at maxmemory.
-- KEYS[1] 'ns:backlog' HASH: at (when it was published, ms of Redis TIME), looking (until when somebody looks, ms), and texts
-- ARGV[1] from which age on it is old, ms; ARGV[2] how long a look may take, ms; ARGV[3] the text that is asked for;
--   ARGV[4] the 'at' of the one that the caller has, or ''; ARGV[5] how long the key lives, ms
-- Returns {its age, ms, or -1 when there is none; its 'at' or ''; the text, or '' when the caller has it; 1 when the caller is to look}
local key, now = KEYS[1], now_millis()
local found = redis.pcall('HMGET', key, 'at', 'looking', ARGV[3])
if found.err then -- somebody else's value: what is published takes its place
  redis.call('DEL', key)
  found = {false, false, false}
end
local age = found[1] and now - found[1] or -1
if age < 0 then -- also of a server whose clock was ahead
  age, found[1], found[3] = -1, false, false
end
local looking = tonumber(found[2])
local looks = looking and looking > now and looking <= now + ARGV[2]
local is_to_look = (age < 0 or age >= tonumber(ARGV[1])) and not looks
if is_to_look then
  write_even_when_full(key)
  redis.call('HSET', key, 'looking', string.format('%.0f', now + ARGV[2]))
  redis.call('PEXPIRE', key, ARGV[5])
end
return {age, found[1] or '', found[1] ~= ARGV[4] and found[3] or '', is_to_look and 1 or 0}
