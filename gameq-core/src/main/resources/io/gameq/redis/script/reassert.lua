-- Tells Redis again which session owns, after Redis lost it; the caller has read in MySQL that it does. Adopts nothing: what
-- older sessions left is parked by the next claim. Refused when a newer session owns. Runs at maxmemory.
-- A session that Redis did not know may have adopted rows that Redis lost: until its node says otherwise (healed.lua), they are to come.
-- It was not told either of what was sent to the owner meanwhile: it is now, as of what may have been told before.
-- KEYS[1] '{ns:slot}', prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, due ZSET, closing SET, healing SET, inboxes:<owner>
--   HASH, unheld:<owner> HASH, sent:<process> HASH, dirty:<inbox>:<session> HASH, claimed:<inbox> HASH
-- ARGV[1] owner; ARGV[2] session; ARGV[3] 1 when its node may have rows to put back, 0 for a session that nobody has
-- Returns {1}, or {0, session that owns}. Publishes to the node of an older session that owned that it does no more: see tell_lost.
local slot, owner, session = KEYS[1], ARGV[1], ARGV[2]

-- Nothing where somebody else wrote something else.
local function all_of(key) return wrong_type(key) and {} or redis.call('HGETALL', key) end

-- What nobody was told of, or another session that Redis took for the one that has the owner: field, name, field, name ...
local function not_told(other)
  local unheld = slot .. ':unheld:' .. owner
  local names = all_of(unheld)
  local inboxes = all_of(inboxes_key(slot, owner))
  for i = 1, #inboxes, 2 do
    for _, key in ipairs({dirty_key(slot, inboxes[i], inboxes[i + 1]), claimed_key(slot, inboxes[i])}) do
      local rows = all_of(key)
      for j = 1, #rows, 2 do names[#names + 1], names[#names + 2] = rows[j], name_of(rows[j + 1], inboxes[i]) end
    end
  end
  local begin = other and owner .. ' ' .. other .. ' '
  local sent = other and all_of(sent_key(slot, other)) or {}
  for i = 1, #sent, 2 do
    if string.sub(sent[i], 1, #begin) == begin then
      names[#names + 1], names[#names + 2] = string.sub(sent[i], #begin + 1), string.sub(sent[i + 1], 2)
    end
  end
  redis.call('DEL', unheld)
  return names
end

local owned_by = owner_of(slot, owner)
if owned_by and owned_by > session then return {0, owned_by} end
write_even_when_full(slot)
if owned_by ~= session then
  -- Its due entry may have been dropped while another writer flushed this owner: no ack makes a session due that owns no more.
  if owned_by and redis.call('EXISTS', dirty_key(slot, owner, owned_by)) == 1 then
    redis.call('ZADD', slot .. ':due', 'LT', now_millis(), member(owner, owned_by))
  end
  redis.call('SET', own_key(slot, owner), session)
  if owned_by then tell_lost(slot, owner, owned_by) end
  redis.call('SREM', slot .. ':closing', owner) -- that was the session before
  if ARGV[3] == '1' then redis.call('SADD', slot .. ':healing', owner) end
  tell_sent(slot, owner, session, true, not_told(owned_by))
end
return {1}
