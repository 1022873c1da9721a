-- Finishes claims whose rows are in MySQL, and tells the nodes that wait for it. Runs at maxmemory.
-- KEYS[1] '{ns:slot}' prefix
-- ARGV[1] namespace; ARGV[2] how long the own key of a closed session is kept, ms; then for each claim: owner; token; highest version flushed
-- Returns for each claim 1, or 0 when the token is no longer ours (the lease ran out and the rows were taken back): nothing is changed then.
-- Publishes 'owner session version' lines on 'ns:durable:<first 8 hex digits of the nonce>', the channel of the session's node.
local slot, namespace = KEYS[1], ARGV[1]
write_even_when_full(slot)
local now, results, lines = now_millis(), {}, {}

local function tell(session, owner, version)
  local node = string.sub(session, 18, 25)
  lines[node] = lines[node] or {}
  table.insert(lines[node], owner .. ' ' .. session .. ' ' .. version)
end

for i = 3, #ARGV, 3 do
  local owner, token, version = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local claim = claim_of(slot, owner)
  if claim and claim.token == token then
    redis.call('DEL', claimed_key(slot, owner))
    redis.call('HDEL', slot .. ':claim', owner)
    redis.call('ZREM', slot .. ':lease', owner)
    redis.call('LREM', slot .. ':inflight:' .. claim.writer, 1, member(owner, claim.session))
    local owned_by = redis.call('GET', own_key(slot, owner))
    local more = false
    for _, session in ipairs({claim.session, owned_by ~= claim.session and owned_by or nil}) do
      tell(session, owner, version)
      if redis.call('EXISTS', dirty_key(slot, owner, session)) == 1 then
        more = true -- its due entry may have been dropped while this claim stood
        redis.call('ZADD', slot .. ':due', 'NX', now, member(owner, session))
      end
    end
    if not more and redis.call('SREM', slot .. ':closing', owner) == 1 then redis.call('PEXPIRE', own_key(slot, owner), ARGV[2]) end
    results[#results + 1] = 1
  else
    results[#results + 1] = 0
  end
end
for node, text in pairs(lines) do redis.call('PUBLISH', namespace .. ':durable:' .. node, table.concat(text, '\n')) end
return results
