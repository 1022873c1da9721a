-- Gives claims back unflushed. Runs at maxmemory.
-- KEYS[1] '{ns:slot}' prefix
-- ARGV[1] ms until the owners are due again; ARGV[2] attempts to take off again (1 for an outage, else 0); then for each claim: owner; token
-- Returns for each claim 1, or 0 when the token is no longer ours: nothing is changed then.
local slot = KEYS[1]
write_even_when_full(slot)
local when, results = now_millis() + ARGV[1], {}
for i = 3, #ARGV, 2 do
  local owner = ARGV[i]
  local claim = claim_of(slot, owner)
  if claim and claim.token == ARGV[i + 1] then
    claim.attempts = claim.attempts - ARGV[2]
    give_back(slot, owner, claim, when)
    results[#results + 1] = 1
  else
    results[#results + 1] = 0
  end
end
return results
