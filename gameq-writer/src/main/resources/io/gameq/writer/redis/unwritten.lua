-- Which of some owners have rows, dirty or claimed, that were committed by a time. Rows of a session that lost ownership do not count:
-- they are never written. Changes nothing, and is refused on a replica. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, claimed:<owner> HASH, claim HASH
-- ARGV[1] the highest version that counts, 16 hex digits; ARGV[2] rows of one owner after which no more are looked for;
--   ARGV[3...] '<owner>:<session>', or '<owner>:' of a session that only Redis knows
-- Returns for each that has such rows {its place among ARGV[3...] from 0; number of dirty rows; of claimed rows; ms since MySQL first
--   refused a row, or 0; the tables of these rows, as fields name them}
local slot, newest, most = KEYS[1], ARGV[1], tonumber(ARGV[2])
refuse_on_a_replica(slot)
local now = now_millis()

-- Most often the first look at one row tells, where one is enough.
local function count(hash, tables, found)
  if redis.call('TYPE', hash).ok ~= 'hash' then return 0 end
  local rows, counted = redis.call('HRANDFIELD', hash, 1, 'WITHVALUES'), 0
  local one_is_enough = most - found == 1 and rows[2] and string.sub(rows[2], 1, 16) <= newest
  if not one_is_enough then rows = redis.call('HGETALL', hash) end
  for i = 1, #rows, 2 do
    if found + counted < most and string.sub(rows[i + 1], 1, 16) <= newest then
      counted = counted + 1
      tables[string.match(rows[i], '^[^:]*')] = true
    end
  end
  return counted
end

local results = {}
for i = 3, #ARGV do
  local owner, session = string.match(ARGV[i], '^(.*):([^:]*)$')
  local owned_by, tables = owner_of(slot, owner), {}
  if owned_by and owned_by > session then session = owned_by end
  local claimed = count(claimed_key(slot, owner), tables, 0)
  local dirty = claimed < most and count(dirty_key(slot, owner, session), tables, claimed) or 0
  if dirty + claimed > 0 then
    local claim, names = claim_of(slot, owner), {}
    for name in pairs(tables) do names[#names + 1] = name end
    local since = claim and tonumber(claim.since) or 0
    results[#results + 1] = {i - 3, dirty, claimed, since > 0 and now - since or 0, names}
  end
end
return results
