-- Takes back claims whose lease ran out. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: lease ZSET, claim HASH, claimed:<owner> HASH, inflight:<writer> LIST, own:<owner> STRING,
--   dirty:<owner>:<session> HASH, due ZSET, urgent SET
-- ARGV[1] most claims to take back in this call
-- Returns {owner, writer that let it run out, how often that happened since the last ack} for each.
-- Where somebody else's value is in the way, the rows stay claimed for another five seconds; other owners go on.
local slot = KEYS[1]
local now = now_millis()
local expired = redis.call('ZRANGEBYSCORE', slot .. ':lease', '-inf', now, 'LIMIT', 0, ARGV[1])
if #expired == 0 then return {} end
write_even_when_full(slot)
local reaped = {}
for _, owner in ipairs(expired) do
  local claim = claim_of(slot, owner)
  if claim and not can_go_back(slot, owner, claim) then
    redis.call('ZADD', slot .. ':lease', now + 5000, owner)
  elseif claim then
    claim.lapses = claim.lapses + 1
    give_back(slot, owner, claim, now)
    reaped[#reaped + 1] = {owner, claim.writer, claim.lapses}
  else
    redis.call('ZREM', slot .. ':lease', owner)
  end
end
return reaped
