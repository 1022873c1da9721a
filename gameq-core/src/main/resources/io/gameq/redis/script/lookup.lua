-- What Redis holds of some rows of one owner, in one look: a row that moves from dirty to claimed meanwhile would else be overlooked.
-- Changes nothing, and is refused on a replica, which may hold something else: the DEL of a key that is never there sees to that.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, claimed:<owner> HASH, dirty:<owner>:<session> HASH, healing SET
-- ARGV[1] owner; ARGV[2] 1 for whole rows, 0 for their versions; ARGV[3] number of sessions n; n sessions; then up to 1,000 fields
-- Returns {session that owns or ''; 1 while rows of that session that Redis lost are still to be put back, or may be, else 0; claimed rows;
--   dirty rows of each session in turn; dirty rows of the session that owns}: each is a list with a row, a version or '' for each field. A
--   key that is no hash holds nothing.
local slot, owner, whole, sessions = KEYS[1], ARGV[1], ARGV[2] == '1', tonumber(ARGV[3])
local fields = {}
for i = 4 + sessions, #ARGV do fields[#fields + 1] = ARGV[i] end

refuse_on_a_replica(slot)

local function look(key)
  local found = redis.call('TYPE', key).ok == 'hash' and redis.call('HMGET', key, unpack(fields)) or {}
  local rows = {}
  for i = 1, #fields do
    local row = found[i] or ''
    rows[i] = whole and row or string.sub(row, 1, 16)
  end
  return rows
end

local owned_by = own(slot, owner) or ''
local healing = redis.pcall('SISMEMBER', slot .. ':healing', owner)
local reply = {owned_by, type(healing) == 'number' and healing or 1, look(claimed_key(slot, owner))}
for i = 1, sessions do reply[3 + i] = look(dirty_key(slot, owner, ARGV[3 + i])) end
reply[4 + sessions] = look(dirty_key(slot, owner, owned_by))
return reply
