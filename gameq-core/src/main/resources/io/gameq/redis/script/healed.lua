-- Everything of these sessions that Redis had lost is in it again.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, healing SET
-- ARGV: owner, session, owner, session ...; at most 500 of them
-- Returns {how many of the sessions own}.
local slot, own = KEYS[1], 0
for i = 1, #ARGV, 2 do
  if redis.call('GET', own_key(slot, ARGV[i])) == ARGV[i + 1] then
    redis.call('SREM', slot .. ':healing', ARGV[i])
    own = own + 1
  end
end
return {own}
