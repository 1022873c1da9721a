-- The rows of one table that wait, dirty or claimed, of some owners and inboxes. Changes nothing, and is refused on a replica. Runs at
-- maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, claimed:<owner> HASH
-- ARGV[1] the table, as fields name it; ARGV[2...] '<owner>:<session>', or '<owner>:' of a session that only Redis knows, at most 100
-- Returns field, row, field, row ...; a row that is dirty and claimed is there twice
local slot, prefix, found = KEYS[1], ARGV[1] .. ':', {}
refuse_on_a_replica(slot)

local function add(hash)
  if redis.call('TYPE', hash).ok ~= 'hash' then return end
  local rows = redis.call('HGETALL', hash)
  for i = 1, #rows, 2 do
    if string.sub(rows[i], 1, #prefix) == prefix then
      found[#found + 1] = rows[i]
      found[#found + 1] = rows[i + 1]
    end
  end
end

for i = 2, #ARGV do
  local owner, session = string.match(ARGV[i], '^(.*):([^:]*)$')
  local owned_by = owner_of(slot, owner)
  add(claimed_key(slot, owner))
  if session ~= '' then add(dirty_key(slot, owner, session)) end
  if owned_by and owned_by ~= session then add(dirty_key(slot, owner, owned_by)) end -- which has adopted them meanwhile
end
return found
