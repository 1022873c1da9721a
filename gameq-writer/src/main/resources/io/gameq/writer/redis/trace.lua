-- Where one owner is on his way, in one look. Changes nothing, and is refused on a replica. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, claimed:<owner> HASH, due ZSET, ready LIST,
--   lease ZSET, claim HASH, closing SET, healing SET, stale SET
-- ARGV[1] owner, or inbox; ARGV[2] entries of ready that are looked at for each session; ARGV[3...] sessions, at most 100
-- Returns {Redis TIME, ms; session that owns or ''; ms until its own key expires, -1 never, -2 there is none; 1 in closing, else 0;
--   1 in healing, else 0; the record of the claim, as claims.lua has it, or ''; when the lease ends, ms, or ''; number of claimed rows,
--   -1 when there is no such hash; for each session {number of dirty rows, -1 when there is no such hash; when due, ms, or ''; 1 in
--   ready, else 0; 1 in stale, else 0}; keys that hold somebody else's values}
local slot, owner = KEYS[1], ARGV[1]
refuse_on_a_replica(slot)
local foreign, seen = {}, {}

-- Where somebody else's value is, there is nothing of ours.
local function ask(otherwise, command, key, ...)
  local answer = redis.pcall(command, key, ...)
  if type(answer) == 'table' and answer.err then
    if not seen[key] then foreign[#foreign + 1] = key end
    seen[key] = true
    return otherwise
  end
  return answer or otherwise
end

local function rows_of(key)
  local rows = ask(0, 'HLEN', key)
  return rows == 0 and -1 or rows
end

local reply = {
  now_millis(), inbox_session(owner) or ask('', 'GET', own_key(slot, owner)), redis.call('PTTL', own_key(slot, owner)),
  ask(0, 'SISMEMBER', slot .. ':closing', owner), ask(0, 'SISMEMBER', slot .. ':healing', owner),
  ask('', 'HGET', slot .. ':claim', owner), ask('', 'ZSCORE', slot .. ':lease', owner), rows_of(claimed_key(slot, owner))
}
local sessions = {}
for i = 3, #ARGV do
  local dirty, entry = dirty_key(slot, owner, ARGV[i]), member(owner, ARGV[i])
  local is_ready = ask(false, 'LPOS', slot .. ':ready', entry, 'MAXLEN', ARGV[2])
  sessions[#sessions + 1] = {
    rows_of(dirty), ask('', 'ZSCORE', slot .. ':due', entry), is_ready and 1 or 0, ask(0, 'SISMEMBER', slot .. ':stale', dirty)
  }
end
reply[9], reply[10] = sessions, foreign
return reply
