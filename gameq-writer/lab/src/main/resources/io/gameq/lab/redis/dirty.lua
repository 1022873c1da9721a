-- Counts the dirty rows of a slot: one command for each owner that is due. Changes nothing.
-- KEYS[1] '{ns:slot}' prefix
-- Returns {dirty rows of the owners in due}.
local slot, rows = KEYS[1], 0
for _, entry in ipairs(redis.call('ZRANGE', slot .. ':due', 0, -1)) do
  rows = rows + redis.call('HLEN', slot .. ':dirty:' .. entry)
end
return {rows}
