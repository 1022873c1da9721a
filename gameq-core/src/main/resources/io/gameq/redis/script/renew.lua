-- Moves the deadline of claims that are still being worked on. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: claim HASH, lease ZSET
-- ARGV[1] lease from now, ms; then for each claim: owner; token
-- Returns {how many were still ours}; the others are not changed.
local slot, ours = KEYS[1], 0
write_even_when_full(slot)
for i = 2, #ARGV, 2 do
  local claim = claim_of(slot, ARGV[i])
  if claim and claim.token == ARGV[i + 1] then
    redis.call('ZADD', slot .. ':lease', 'XX', now_millis() + ARGV[1], ARGV[i])
    ours = ours + 1
  end
end
return {ours}
