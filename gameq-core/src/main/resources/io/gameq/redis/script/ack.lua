-- Finishes claims whose rows are in MySQL, and tells the nodes that wait for it. Rows that are kept go back to wait. Runs at
-- maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: claim HASH, claimed:<owner> HASH, lease ZSET, inflight:<writer> LIST, own:<owner> STRING,
--   dirty:<owner>:<session> HASH, due ZSET, closing SET, urgent SET, inboxes:<owner> HASH, unheld:<owner> HASH
-- ARGV[1] namespace; ARGV[2] how long the own key of a closed session is kept, ms; ARGV[3] ms until kept rows are due again;
--   then for each claim: owner; token; version up to which all is in MySQL or set aside;
--   number of rows set aside as dead letters, for each its field and version; number of rows kept, for each its field and version
-- Returns for each claim 1, or 0 when the token is no longer ours (the lease ran out and the rows were taken back), or somebody
--   else's value is in the way of kept rows: nothing is changed then.
-- Publishes lines 'owner session version [!field version]... [+field version]...': all up to that version is in MySQL, but for rows
--   set aside (!) and kept (+); on 'ns:durable:<first 8 hex digits of the nonce>', the channel of the session's node.
local slot, namespace = KEYS[1], ARGV[1]
write_even_when_full(slot)
local now, results, lines = now_millis(), {}, {}
local any_closing = redis.call('EXISTS', slot .. ':closing') == 1

local function tell(session, line)
  local node = string.sub(session, 18, 25)
  lines[node] = lines[node] or {}
  table.insert(lines[node], line)
end

local function keep(owner, claim, fields)
  local claimed, session = claimed_key(slot, owner), newest_session(slot, owner, claim)
  local dirty = dirty_key(slot, owner, session)
  local due = redis.call('EXISTS', dirty) == 1 and now or now + ARGV[3]
  for i = 1, #fields, 2 do
    local row = redis.call('HGET', claimed, fields[i])
    if row and is_newer(row, redis.call('HGET', dirty, fields[i])) then redis.call('HSET', dirty, fields[i], row) end
  end
  redis.call('ZADD', slot .. ':due', 'NX', due, member(owner, session))
end

local function marked(mark, rows)
  local words = {}
  for i = 1, #rows, 2 do words[#words + 1] = ' ' .. mark .. rows[i] .. ' ' .. rows[i + 1] end
  return table.concat(words)
end

-- Rows that were sent are flushed, and Redis knows nobody who has their owner.
local function note_unheld(to, inbox)
  local unheld, rows, names = slot .. ':unheld:' .. to, redis.call('HGETALL', claimed_key(slot, inbox)), {}
  if wrong_type(unheld) then return end
  local room = 2 * (MOST_UNHELD - redis.call('HLEN', unheld))
  for i = 1, math.min(#rows, room), 2 do names[i], names[i + 1] = rows[i], name_of(rows[i + 1], inbox) end
  if #names == 0 then return end
  redis.call('HSET', unheld, unpack(names))
  redis.call('PEXPIRE', unheld, UNHELD_MILLIS)
end

local function finish(owner, claim, version, set_aside, kept)
  local to = owner_of_inbox(owner)
  if to and not owner_of(slot, to) then note_unheld(to, owner) end
  if #kept > 0 then keep(owner, claim, kept) end
  redis.call('DEL', claimed_key(slot, owner))
  redis.call('HDEL', slot .. ':claim', owner)
  end_lease(slot, owner, claim)
  local owned_by = owner_of(slot, owner)
  local more = false
  -- A session that Redis has forgotten, for none or an older one, is told nothing: older rows of it may have been forgotten too.
  local remembered = owned_by and owned_by >= claim.session
  for _, session in ipairs({claim.session, owned_by ~= claim.session and owned_by or nil}) do
    local line = table.concat({owner, session, version}, ' ')
    if remembered then tell(session, line .. marked('!', set_aside) .. marked('+', kept)) end
    if redis.call('EXISTS', dirty_key(slot, owner, session)) == 1 then
      more = true -- its due entry may have been dropped while this claim stood
      local urgent = was_urgent(slot, owner)
      redis.call('ZADD', slot .. ':due', urgent and 'LT' or 'NX', urgent and 0 or now, member(owner, session))
    end
  end
  if to and not more then redis.call('HDEL', inboxes_key(slot, to), owner) end
  if any_closing and not more and redis.call('SREM', slot .. ':closing', owner) == 1 then
    redis.call('PEXPIRE', own_key(slot, owner), ARGV[2])
  end
end

local at = 4
local function next_list(size)
  local list = {}
  for i = 1, size do list[i] = ARGV[at + i] end
  at = at + 1 + size
  return list
end

while at <= #ARGV do
  local owner, token, version = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  at = at + 3
  local set_aside = next_list(2 * ARGV[at])
  local kept = next_list(2 * ARGV[at])
  local claim = claim_of(slot, owner)
  local ours = claim and claim.token == token and (#kept == 0 or can_go_back(slot, owner, claim))
  if ours then finish(owner, claim, version, set_aside, kept) end
  results[#results + 1] = ours and 1 or 0
end
for node, text in pairs(lines) do redis.call('PUBLISH', namespace .. ':durable:' .. node, table.concat(text, '\n')) end
return results
