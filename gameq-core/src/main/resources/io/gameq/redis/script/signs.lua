-- What some processes said, one call for many: reads only.
-- KEYS[1] 'ns:processes' ZSET; KEYS[2] 'ns:process:' and KEYS[3] 'ns:node:', prefixes of an id
-- ARGV[1], ARGV[2] first and last rank, of those that said something longest ago
-- Returns a list of {id, ms since it said so, its sign of life as a node or '', {name, value, name, value...}}; no values of those that
-- have expired.
local now, all = now_millis(), {}
local ids = redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'WITHSCORES')
for i = 1, #ids, 2 do
  local id = ids[i]
  all[#all + 1] = {
    id, math.max(0, now - tonumber(ids[i + 1])), redis.call('GET', KEYS[3] .. id) or '', redis.call('HGETALL', KEYS[2] .. id)
  }
end
return all
