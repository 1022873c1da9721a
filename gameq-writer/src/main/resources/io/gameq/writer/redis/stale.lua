-- What the parked rows of some sessions come to. Changes nothing, and is refused on a replica. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH
-- ARGV[1] rows of each session to read, about; ARGV[2] bytes to read in all, beyond which it ends early; ARGV[3...]: owner, session of each
-- Returns for each {1 when it owns, else 0; number of rows; how many of them were read; their bytes, keys and images; the highest
--   version among them, 16 hex digits, or ''}, for fewer sessions than were asked for when it ended early: at least one.
local slot, all = KEYS[1], 0
refuse_on_a_replica(slot)
local reply = {}
for i = 3, #ARGV, 2 do
  if all > tonumber(ARGV[2]) then break end
  local dirty, bytes, newest = dirty_key(slot, ARGV[i], ARGV[i + 1]), 0, ''
  local rows = redis.call('HSCAN', dirty, 0, 'COUNT', ARGV[1])[2]
  for j = 1, #rows, 2 do
    local version = string.sub(rows[j + 1], 1, 16)
    bytes = bytes + #rows[j] + #rows[j + 1]
    if #version == 16 and version > newest then newest = version end
  end
  all = all + bytes
  local owns = redis.call('GET', own_key(slot, ARGV[i])) == ARGV[i + 1]
  reply[#reply + 1] = {owns and 1 or 0, redis.call('HLEN', dirty), #rows / 2, bytes, newest}
end
return reply
