-- Puts topics as MySQL has them; one that is here in the same or a newer revision stays. Runs at maxmemory.
-- KEYS[1] 'ns:topics' HASH topic -> '<revision, 16 hex digits> <JSON>'
-- ARGV for each topic: its name; its text, as in the hash
-- Returns {number of topics that were put}
local put = 0
for i = 1, #ARGV, 2 do
  local there = redis.call('HGET', KEYS[1], ARGV[i])
  local revision = there and string.match(there, '^(%x+) {')
  if not revision or revision < string.sub(ARGV[i + 1], 1, 16) then
    redis.call('HDEL', KEYS[1], ARGV[i]) -- needs no memory: what is written after it is not refused at maxmemory
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    put = put + 1
  end
end
return {put}
