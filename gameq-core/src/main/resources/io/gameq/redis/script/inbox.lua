-- Put in front of scripts that meet inboxes, after slot.lua: what nodes send to an owner, whoever has it.
-- {ns:slot}:inboxes:<owner> HASH inbox -> its session: those in which rows wait to be flushed
-- {ns:slot}:sent:<process> HASH '<owner> <session> <field>' -> '0' or '1', version, sender: what the node of the owner's session is to be
--   told; '1' when it may have been told before, as when a WAL is replayed. The row itself is in the inbox of that sender, or in MySQL.
--   Expires an hour after its node last looked, as that may be gone.
-- {ns:slot}:unheld:<owner> HASH field -> version, sender: rows that were flushed while Redis knew nobody who has the owner. It may have
--   forgotten him: reassert.lua tells him then. Expires two minutes after the last of them: nearly always nobody has the owner.
local TOLD_WITHIN_MILLIS, UNHELD_MILLIS, MOST_UNHELD = 3600000, 120000, 1000

local function inboxes_key(slot, owner) return slot .. ':inboxes:' .. owner end

-- The owner to whom an inbox belongs; nil of what is no inbox.
local function owner_of_inbox(inbox) return is_inbox(inbox) and string.match(inbox, '^(.*)!%x+$') or nil end

-- The hashes in which rows wait that were sent to an owner.
local function keys_of_inboxes(slot, owner)
  local keys, inboxes = {}, redis.call('HGETALL', inboxes_key(slot, owner))
  for i = 1, #inboxes, 2 do
    keys[i], keys[i + 1] = dirty_key(slot, inboxes[i], inboxes[i + 1]), claimed_key(slot, inboxes[i])
  end
  return keys
end

-- The rows themselves: field, value, field, value ...
local function rows_of_inboxes(slot, owner)
  local all = {}
  for _, key in ipairs(keys_of_inboxes(slot, owner)) do
    for _, word in ipairs(redis.call('HGETALL', key)) do all[#all + 1] = word end
  end
  return all
end

-- What is known of a row that was sent: version, sender.
local function name_of(row, inbox) return string.sub(row, 1, 16) .. string.match(inbox, '!(%x+)$') end

local function sent_key(slot, holder) return slot .. ':sent:' .. string.sub(holder, 18, 25) end

-- Has the session that has the owner be told of rows: field, name, field, name ...
local function tell_sent(slot, owner, holder, again, names)
  if #names == 0 then return end
  local sent = sent_key(slot, holder)
  for i = 1, #names, 2 do
    if string.sub(names[i], 1, 14) ~= 'gameq_handled:' then -- no row of the game's: it says whose handler sent the others
      redis.call('HSET', sent, table.concat({owner, holder, names[i]}, ' '), (again and '1' or '0') .. names[i + 1])
    end
  end
  if redis.call('PTTL', sent) < 0 then redis.call('PEXPIRE', sent, TOLD_WITHIN_MILLIS) end
  local namespace, number = string.match(slot, '^{(.*):(%d+)}$')
  redis.call('PUBLISH', namespace .. ':session:' .. string.sub(holder, 18, 25), 'sent ' .. number)
end

-- To be called once rows were put into an inbox: an open of its owner finds them, and who has the owner is told.
-- 'rows' gives field and row by a number from 1 on.
local function came_into(slot, inbox, session, again, rows, count)
  local owner = owner_of_inbox(inbox)
  redis.call('HSET', inboxes_key(slot, owner), inbox, session)
  local holder, names = owner_of(slot, owner), {}
  if not holder then return end
  for i = 1, count do
    local field, row = rows(i)
    names[2 * i - 1], names[2 * i] = field, name_of(row, inbox)
  end
  tell_sent(slot, owner, holder, again, names)
end
