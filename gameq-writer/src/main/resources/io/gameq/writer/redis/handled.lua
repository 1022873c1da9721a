-- Of rows of a session that lost ownership those that tell of messages which it handled, but for what the session that owns has taken over.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, claimed:<owner> HASH, healing SET
-- ARGV[1] owner; ARGV[2] session; ARGV[3] what their fields begin with
-- Returns {session that owns, '' for none; 1 while its node may put back what it had taken over, else 0; field, row, field, row ...}
local slot, owner, begin = KEYS[1], ARGV[1], ARGV[3]
refuse_on_a_replica(slot)
local owned_by = owner_of(slot, owner)
local found = {owned_by or '', owned_by and redis.call('SISMEMBER', slot .. ':healing', owner) or 0}
local rows = redis.call('HGETALL', dirty_key(slot, owner, ARGV[2]))
for i = 1, #rows, 2 do
  if string.sub(rows[i], 1, #begin) == begin
    and (not owned_by or redis.call('HEXISTS', dirty_key(slot, owner, owned_by), rows[i]) == 0)
    and redis.call('HEXISTS', claimed_key(slot, owner), rows[i]) == 0
  then
    found[#found + 1], found[#found + 2] = rows[i], rows[i + 1]
  end
end
return found
