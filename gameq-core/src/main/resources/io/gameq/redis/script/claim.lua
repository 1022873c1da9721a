-- Takes the dirty rows of a batch of due owners under a lease. Runs at maxmemory.
-- Rows whose lease ran out twice may kill their writers: they are taken alone, so that no others are lost with them.
-- Who is due at 0 or below is urgent: such owners have claims of their own, which take nobody else; other claims take them when nobody
-- else waits. They never go into ready, where they would wait behind a backlog.
-- Who is due later than anybody can be is due now: Redis' clock was ahead when he committed, and went back since.
-- KEYS[1] '{ns:slot}', prefix of: due ZSET, ready LIST, inflight:<writer> LIST, own:<owner> STRING, dirty:<owner>:<session> HASH,
--   claimed:<owner> HASH, lease ZSET, claim HASH, stale SET, urgent SET
-- ARGV[1] writer; ARGV[2] token, a UUID new for this call; ARGV[3] lease, ms; ARGV[4] most owners; ARGV[5] rows and ARGV[6] bytes
--   after which no further owner is taken; ARGV[7] how long an owner that Redis does not know waits for reassert.lua, ms;
--   ARGV[8] 1 to take urgent owners alone, else 0
-- Returns {ms until the next owner is due, of urgent ones when they are asked for, or -1; claims, unowned, stale, broken}:
--   claims of {owner, session, token, attempts, lapses, ms since MySQL first refused a row of it or 0, {field, row, field, row ...}};
--   unowned of {owner, session} whose own key is missing: ask MySQL, then reassert;
--   stale of {owner, session} that lost ownership with rows, until they are parked: see park.lua;
--   broken of dirty keys that are no hashes: left alone, looked at again in a minute.
local slot, writer, token = KEYS[1], ARGV[1], ARGV[2]
local most_owners, most_rows, most_bytes = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local due, ready, inflight = slot .. ':due', slot .. ':ready', slot .. ':inflight:' .. writer
local only_urgent = ARGV[8] == '1'
local now, waiting = now_millis(), only_urgent and 0 or redis.call('LLEN', ready)

local function wait_for_due()
  local first = redis.call('ZRANGE', due, 0, 0, 'WITHSCORES')
  if not first[2] or only_urgent and tonumber(first[2]) > 0 then return -1 end
  local at = tonumber(first[2])
  return at > latest_due(now) and 0 or math.max(0, at - now)
end

-- One call for many members: most of what a short command costs a script is the call. Lua takes some thousand arguments at most.
local function call_with_all(command, key, members)
  for i = 1, #members, 1000 do redis.call(command, key, unpack(members, i, math.min(i + 999, #members))) end
end

if waiting == 0 then -- idle costs three commands
  local wait = wait_for_due()
  if wait ~= 0 then return {wait, {}, {}, {}, {}} end
end

write_even_when_full(slot)
local function make_ready()
  if waiting >= most_owners then return end
  local far_off = redis.call('ZRANGEBYSCORE', due, '(' .. string.format('%.0f', latest_due(now)), '+inf', 'LIMIT', 0, most_owners)
  for _, entry in ipairs(far_off) do redis.call('ZADD', due, now, entry) end
  local entries = redis.call('ZRANGEBYSCORE', due, '(0', now, 'LIMIT', 0, most_owners - waiting)
  call_with_all('ZREM', due, entries)
  call_with_all('LPUSH', ready, entries)
  waiting = waiting + #entries
end

if not only_urgent then make_ready() end
local takes_urgent = only_urgent or waiting == 0
local urgent = takes_urgent and redis.call('ZRANGEBYSCORE', due, '-inf', 0, 'LIMIT', 0, most_owners) or {}

local claims, unowned, stale, broken, rows, bytes = {}, {}, {}, {}, 0, 0

local function take(owner, session, entry, of)
  local dirty, owned_by = dirty_key(slot, owner, session), owner_of(slot, owner)
  local kind = redis.call('TYPE', dirty).ok
  if kind == 'none' then return false end
  if kind ~= 'hash' then
    broken[#broken + 1] = dirty
    redis.call('ZADD', due, now + 60000, entry)
    return false
  end
  if not owned_by then
    unowned[#unowned + 1] = {owner, session}
    redis.call('ZADD', due, now + ARGV[7], entry)
    return false
  end
  if session < owned_by then -- lost ownership: kept for an operator, never flushed
    if of and of.token == '-' and of.session == session then redis.call('HDEL', slot .. ':claim', owner) end -- no ack will
    if redis.call('SISMEMBER', slot .. ':stale', dirty) == 0 then
      stale[#stale + 1] = {owner, session}
      redis.call('ZADD', due, now + ARGV[3], entry) -- for another writer, should this one die before it has parked them
    end
    return false
  end
  -- Another writer flushes this owner: its ack or nack makes the owner due again.
  if redis.call('RENAMENX', dirty, claimed_key(slot, owner)) == 0 then
    if takes_urgent then redis.pcall('SADD', slot .. ':urgent', owner) end -- as urgent as it was
    return false
  end
  of = of or {attempts = 0, lapses = 0, since = '0'}
  of.token, of.session, of.attempts, of.writer = token .. '.' .. (#claims + 1), session, of.attempts + 1, writer
  remember(slot, owner, of)
  redis.call('ZADD', slot .. ':lease', now + ARGV[3], owner)
  local claim = redis.call('HGETALL', claimed_key(slot, owner))
  rows = rows + #claim / 2
  for i = 2, #claim, 2 do bytes = bytes + #claim[i] end
  claims[#claims + 1] = {owner, session, of.token, of.attempts, of.lapses, of.since == '0' and 0 or now - of.since, claim}
  return true
end

for i = 1, most_owners do
  if rows >= most_rows or bytes >= most_bytes then break end
  local entry = urgent[i] or not takes_urgent and redis.call('RPOPLPUSH', ready, inflight)
  if not entry then break end
  local owner, session = string.match(entry, '^(.*):([^:]+)$')
  local of = claim_of(slot, owner)
  local suspect = of and of.lapses >= 2
  if suspect and #claims > 0 then -- left where it was
    if not takes_urgent then
      redis.call('LREM', inflight, 1, entry)
      redis.call('RPUSH', ready, entry)
    end
    break
  end
  if takes_urgent then
    redis.call('ZREM', due, entry)
    redis.call('LPUSH', inflight, entry)
  end
  local taken = take(owner, session, entry, of)
  if not taken then redis.call('LREM', inflight, 1, entry) end
  if suspect and taken then break end
end

return {not only_urgent and redis.call('LLEN', ready) > 0 and 0 or wait_for_due(), claims, unowned, stale, broken}
