-- Put in front of doctor.lua and mend.lua, after slot.lua, claims.lua and inbox.lua: what is wrong with one thing in a slot.
-- All scripts leave a slot in order, each as a whole. Out of order it gets by what is no script of gameq's: somebody who writes or
-- deletes keys by hand, a restore of a part, or a script that ended in the middle since a key was of the wrong type.
-- A thing is named by its place and two texts:
--   key NAME TYPE            the key '<slot>:NAME', which is to be of that type
--   own OWNER                dirty OWNER SESSION    claimed OWNER    claim OWNER    lease OWNER    closing OWNER    healing OWNER
--   due ENTRY                ready ENTRY            inflight WRITER ENTRY           stale KEY      journal WAL      any NAME
--   inboxes OWNER
-- where OWNER is an inbox as well, but for the last one,
-- and those of topicailments.lua.

-- Looking for an entry in a list costs as much as the list is long: a claim leaves no more than its most owners.
local MOST_ENTRIES = 10000
local MINUTE = 60000

-- Not all can be read: it is first to be mended what is in the way.
local unsure

local function ask(otherwise, ...)
  local answer = redis.pcall(...)
  if type(answer) == 'table' and answer.err then
    unsure = true
    return otherwise
  end
  return answer
end

local function is_session(text)
  return #text == 33 and string.sub(text, 17, 17) == '-' and not string.find(string.gsub(text, '-', '', 1), '[^0-9a-f]')
end

local function is_owner(text) return string.find(owner_of_inbox(text) or text, '^[a-z][a-z0-9_]*%%3A[%w._~%%-]+$') ~= nil end

local function entry_of(text)
  local owner, session = string.match(text, '^(.*):([^:]+)$')
  if owner and is_owner(owner) and is_session(session) then return owner, session end
  return nil
end

local function there(key) return redis.call('EXISTS', key) == 1 end

local function is_in(list, entry) return ask(false, 'LPOS', list, entry, 'MAXLEN', MOST_ENTRIES) ~= false end

-- Whether a claim will look at it.
local function awaited(slot, owner, session)
  return ask(false, 'ZSCORE', slot .. ':due', member(owner, session)) ~= false or is_in(slot .. ':ready', member(owner, session))
end

local function claim_or_nil(slot, owner)
  return ask(false, 'HEXISTS', slot .. ':claim', owner) == 1 and claim_of(slot, owner) or nil
end

local function is_held(claim) return claim ~= nil and claim.token ~= nil and claim.token ~= '-' end

local function in_lease(slot, owner) return ask(false, 'ZSCORE', slot .. ':lease', owner) end

-- Nothing of an owner waits under the session that owns, and no writer has anything.
local function has_nothing(slot, owner)
  local owned_by = owner_of(slot, owner)
  return not there(claimed_key(slot, owner)) and not (owned_by and there(dirty_key(slot, owner, owned_by)))
end

-- Rows in an inbox that opens and reads do not look into.
local function unlisted(slot, owner)
  local of = owner_of_inbox(owner)
  return of and ask(1, 'HEXISTS', inboxes_key(slot, of), owner) == 0
end

local look = {}

function look.key(slot, name, expected)
  local kind = redis.call('TYPE', slot .. ':' .. name).ok
  if kind ~= 'none' and kind ~= expected then return 'wrong_type', kind end
end

function look.any(slot, name)
  local kind = redis.call('TYPE', slot .. ':' .. name).ok
  if kind ~= 'none' then return 'there', kind end
end

function look.own(slot, owner)
  local session = owner_of(slot, owner)
  if session and not is_session(session) then return 'wrong_type', 'text' end
end

function look.dirty(slot, owner, session)
  local key = dirty_key(slot, owner, session)
  if unlisted(slot, owner) and there(key) then return 'inbox_not_listed', session end
  if redis.call('TYPE', key).ok ~= 'hash' or awaited(slot, owner, session) then
    if redis.call('TYPE', key).ok == 'hash' and not owner_of(slot, owner) then return 'unowned', session end
    return nil
  end
  local owned_by, claim = owner_of(slot, owner), claim_or_nil(slot, owner)
  local listed = ask(1, 'SISMEMBER', slot .. ':stale', key) == 1
  if not owned_by then
    if listed then return nil end -- its owner was closed long ago
    return 'unowned', session
  end
  -- The ack or nack of the claim that stands makes it due.
  if is_held(claim) and there(claimed_key(slot, owner)) and (session == claim.session or session == owned_by) then return nil end
  if session >= owned_by then return 'dirty_without_due', owned_by end
  if not listed then return 'stale_not_listed', owned_by end
end

function look.claimed(slot, owner)
  if redis.call('TYPE', claimed_key(slot, owner)).ok ~= 'hash' then return nil end
  if unlisted(slot, owner) then return 'inbox_not_listed', '' end
  local claim = claim_or_nil(slot, owner)
  if claim and not claim.token then return nil end -- damaged: it is looked at by itself
  if not is_held(claim) then return 'claimed_without_claim', owner_of(slot, owner) or '' end
  if not in_lease(slot, owner) then return 'claim_without_lease', claim.token end
end

function look.claim(slot, owner)
  local record = ask(false, 'HGET', slot .. ':claim', owner)
  if not record then return nil end
  local claim = claim_of(slot, owner)
  if not claim.token or not is_owner(owner) or not is_session(claim.session) then return 'damaged_entry', record end
  if is_held(claim) then
    if there(claimed_key(slot, owner)) then return nil end -- whose lease is looked at with its rows
    return 'claim_without_rows', claim.token
  end
  if has_nothing(slot, owner) and not there(dirty_key(slot, owner, claim.session)) then return 'claim_leftover', record end
end

function look.lease(slot, owner)
  local ends = in_lease(slot, owner)
  if not ends then return nil end
  if not is_owner(owner) then return 'damaged_entry', ends end
  if not is_held(claim_or_nil(slot, owner)) and not there(claimed_key(slot, owner)) then return 'lease_without_claim', ends end
end

function look.due(slot, entry)
  local at = ask(false, 'ZSCORE', slot .. ':due', entry)
  if not at then return nil end
  local owner, session = entry_of(entry)
  if not owner then return 'damaged_entry', at end
  local now, millis = now_millis(), tonumber(at)
  if millis > latest_due(now) then return 'due_far_off', at end
  -- A commit while its session was claimed leaves an entry behind, which the next claim drops.
  if there(dirty_key(slot, owner, session)) or millis > now - MINUTE then return nil end
  if millis <= 0 then return nil end -- made due at once: again and again, perhaps
  for _, before in ipairs(ask({}, 'ZRANGEBYSCORE', slot .. ':due', '-inf', '(' .. at, 'LIMIT', 0, 10)) do
    if there(slot .. ':dirty:' .. before) then return nil end -- claims have not got this far
  end
  return 'due_without_dirty', at
end

function look.ready(slot, entry)
  local ready = slot .. ':ready'
  if not is_in(ready, entry) then return nil end
  local owner, session = entry_of(entry)
  if not owner then return 'damaged_entry', entry end
  if there(dirty_key(slot, owner, session)) then return nil end
  -- The same list both times it is looked at: no claim takes from it, and drops what has no rows.
  return 'ready_without_dirty', redis.call('LLEN', ready) .. ' ' .. redis.call('LINDEX', ready, 0) .. ' ' .. redis.call('LINDEX', ready, -1)
end

function look.inflight(slot, writer, entry)
  if not is_in(slot .. ':inflight:' .. writer, entry) then return nil end
  local owner, session = entry_of(entry)
  if not owner then return 'damaged_entry', entry end
  local claim = claim_or_nil(slot, owner)
  if is_held(claim) and claim.writer == writer and claim.session == session then return nil end
  return 'inflight_leftover', claim and claim.token or ''
end

function look.closing(slot, owner)
  if ask(0, 'SISMEMBER', slot .. ':closing', owner) == 0 then return nil end
  if has_nothing(slot, owner) then return 'closing_leftover', owner_of(slot, owner) or '' end
end

function look.healing(slot, owner)
  if ask(0, 'SISMEMBER', slot .. ':healing', owner) == 0 then return nil end
  if not owner_of(slot, owner) then return 'healing_leftover', '' end
end

function look.stale(slot, key)
  if ask(0, 'SISMEMBER', slot .. ':stale', key) == 0 then return nil end
  local prefix = slot .. ':dirty:'
  if string.sub(key, 1, #prefix) ~= prefix or not entry_of(string.sub(key, #prefix + 1)) then return 'damaged_entry', '' end
  if not there(key) then return 'stale_gone', '' end
end

function look.inboxes(slot, owner)
  local empty, all = {}, ask({}, 'HGETALL', inboxes_key(slot, owner))
  for i = 1, #all, 2 do
    if not there(dirty_key(slot, all[i], all[i + 1])) and not there(claimed_key(slot, all[i])) then empty[#empty + 1] = all[i] end
  end
  table.sort(empty)
  if #empty > 0 then return 'inbox_leftover', table.concat(empty, ' ') end
end

function look.journal(slot, wal)
  if string.find(wal, '[!@]$') then return nil end -- beside a mark
  local mark = ask(false, 'HGET', slot .. ':journal', wal)
  if mark and not string.find(mark, '^%d+$') then return 'damaged_entry', mark end
end

-- What is wrong with a thing, and the state in which it is: the same twice, when nobody has touched it in between.
local function ailment(slot, place, name, more)
  unsure = false
  local kind, state = look[place](slot, name, more)
  if kind and not unsure then return kind, state end
  return nil
end
