-- What Redis holds of some rows of one owner, and whether whoever may yet put them back has done so: in one look, since a row that
-- moves from dirty to claimed meanwhile would else be overlooked. Changes nothing, and is refused on a replica. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, claimed:<owner> HASH, dirty:<owner>:<session> HASH, healing SET
-- ARGV[1] owner; ARGV[2...] up to 1,000 fields
-- Returns {session that owns or '', 1 while rows of that session that Redis lost are still to be put back, else 0,
--   the version of each field that is claimed or dirty under that session, as 16 hex digits, or ''}
local slot, owner = KEYS[1], ARGV[1]
refuse_on_a_replica(slot)
local owned_by = own(slot, owner) or ''
local fields, versions = {}, {}
for i = 2, #ARGV do
  fields[i - 1] = ARGV[i]
  versions[i - 1] = ''
end
for _, key in ipairs({claimed_key(slot, owner), dirty_key(slot, owner, owned_by)}) do
  local rows = redis.call('TYPE', key).ok == 'hash' and redis.call('HMGET', key, unpack(fields)) or {}
  for i = 1, #fields do
    local version = rows[i] and string.match(rows[i], '^' .. string.rep('%x', 16)) or ''
    if version > versions[i] then versions[i] = version end
  end
end
return {owned_by, redis.call('SISMEMBER', slot .. ':healing', owner), versions}
