-- Gives claims back unflushed. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: claim HASH, claimed:<owner> HASH, lease ZSET, inflight:<writer> LIST, own:<owner> STRING,
--   dirty:<owner>:<session> HASH, due ZSET, urgent SET
-- ARGV[1] ms until the owners are due again; ARGV[2] 1 when MySQL refused a row, 0 for an outage, which counts as no attempt; then for
--   each claim: owner; token
-- Returns for each claim 1, or 0 when the token is no longer ours, or somebody else's value is in the way: nothing is changed then.
local slot = KEYS[1]
write_even_when_full(slot)
local now, results = now_millis(), {}
for i = 3, #ARGV, 2 do
  local owner = ARGV[i]
  local claim = claim_of(slot, owner)
  if claim and claim.token == ARGV[i + 1] and can_go_back(slot, owner, claim) then
    if ARGV[2] == '0' then
      claim.attempts = claim.attempts - 1
    elseif claim.since == '0' then
      claim.since = string.format('%.0f', now)
    end
    give_back(slot, owner, claim, now + ARGV[1])
    results[#results + 1] = 1
  else
    results[#results + 1] = 0
  end
end
return results
