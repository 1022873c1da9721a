-- What a writer looks for in slots several times a second, with one call for many. Reads only.
-- KEYS[i] '{ns:slot}', prefix of: due ZSET, ready LIST, lease ZSET
-- ARGV[1] 1 to look for what writers that are gone left, too
-- Returns for each slot when its next owner is due, score of due, 2^53 for never; then, if ARGV[1] is 1, for each slot 0 where ready has
-- somebody or 2^53; then for each when its first lease ends. 0 where somebody else's value is in the way.
local never = 9007199254740992
local found = {}

local function first_scores(key)
  for _, slot in ipairs(KEYS) do
    local first = redis.pcall('ZRANGE', slot .. key, 0, 0, 'WITHSCORES')
    found[#found + 1] = first.err and 0 or first[2] and tonumber(first[2]) or never
  end
end

first_scores(':due')
if ARGV[1] == '1' then
  for _, slot in ipairs(KEYS) do
    local size = redis.pcall('LLEN', slot .. ':ready')
    found[#found + 1] = size == 0 and never or 0
  end
  first_scores(':lease')
end
return found
