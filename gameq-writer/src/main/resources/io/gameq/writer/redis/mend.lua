-- Mends one thing in a slot, if it is still wrong in the same way. Deletes no row: what is in the way is renamed. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of all keys of the slot
-- ARGV[1] place; ARGV[2] name; ARGV[3] more, as ailments.lua has them; ARGV[4] kind and ARGV[5] state, as doctor.lua found them;
--   ARGV[6] what to add to the names of keys that are renamed; ARGV[7] the owner's session by MySQL, or ''; ARGV[8] how long the own
--   key of a closed session is kept, ms
-- Returns {1}; {0, kind by now or ''} when it is not so any more, or cannot be mended: then nothing is changed.
local slot, place, name, more, kind, state = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
write_even_when_full(slot)
local kind_now, state_now = ailment(slot, place, name, more)
if kind_now ~= kind or state_now ~= state then return {0, kind_now or ''} end
local due, now = slot .. ':due', now_millis()

local function make_due(owner, session) redis.call('ZADD', due, 'LT', now, member(owner, session)) end

-- Each mends one kind; false when that cannot be.
local mend = {}

function mend.wrong_type()
  local key = place == 'own' and 'own:' .. name or name
  return redis.call('RENAMENX', slot .. ':' .. key, slot .. ':aside:' .. key .. ':' .. ARGV[6]) == 1
end

-- What it said is kept, as text.
function mend.damaged_entry()
  redis.call('SADD', slot .. ':aside:entries', table.concat({place, name, more, state}, ' '))
  if place == 'due' or place == 'lease' then
    redis.call('ZREM', slot .. ':' .. place, name)
  elseif place == 'ready' then
    redis.call('LREM', slot .. ':ready', 0, name)
  elseif place == 'inflight' then
    redis.call('LREM', slot .. ':inflight:' .. name, 0, more)
  elseif place == 'stale' then
    redis.call('SREM', slot .. ':stale', name)
  else
    redis.call('HDEL', slot .. ':' .. place, name)
  end
end

function mend.dirty_without_due() make_due(name, more) end

function mend.unowned() make_due(name, more) end

function mend.stale_not_listed() redis.call('SADD', slot .. ':stale', dirty_key(slot, name, more)) end

-- The reaper takes the rows back. A writer that is still at it may ack until then.
function mend.claim_without_lease() redis.call('ZADD', slot .. ':lease', now, name) end

function mend.claim_without_rows()
  local claim = claim_of(slot, name)
  end_lease(slot, name, claim)
  redis.call('HDEL', slot .. ':claim', name)
  for _, session in ipairs({claim.session, newest_session(slot, name, claim)}) do
    if there(dirty_key(slot, name, session)) then make_due(name, session) end
  end
end

-- Back under the session that owns: it has seen them when it was opened.
function mend.claimed_without_claim()
  local session = state ~= '' and state or ARGV[7]
  if session == '' or not can_go_back(slot, name, {session = session}) then return false end
  merge(claimed_key(slot, name), dirty_key(slot, name, session))
  make_due(name, session)
end

function mend.claim_leftover() redis.call('HDEL', slot .. ':claim', name) end

function mend.lease_without_claim() redis.call('ZREM', slot .. ':lease', name) end

function mend.due_without_dirty() redis.call('ZREM', due, name) end

function mend.due_far_off() redis.call('ZADD', due, 'LT', now, name) end

function mend.ready_without_dirty() redis.call('LREM', slot .. ':ready', 0, name) end

function mend.inflight_leftover() redis.call('LREM', slot .. ':inflight:' .. name, 0, more) end

-- As the last ack would have done.
function mend.closing_leftover()
  redis.call('SREM', slot .. ':closing', name)
  if state ~= '' then redis.call('PEXPIRE', own_key(slot, name), ARGV[8]) end
end

function mend.healing_leftover() redis.call('SREM', slot .. ':healing', name) end

function mend.stale_gone() redis.call('SREM', slot .. ':stale', name) end

function mend.inbox_not_listed()
  redis.call('HSET', inboxes_key(slot, owner_of_inbox(name)), name, inbox_session(name))
end

function mend.inbox_leftover()
  for inbox in string.gmatch(state, '%S+') do redis.call('HDEL', inboxes_key(slot, name), inbox) end
end

function mend.journal_mark() redis.call('HDEL', slot .. ':journal', name, name .. '!', name .. '@') end

function mend.message_without_due() set_due(topic_key(slot, name), more, now) end

function mend.group_without_due() set_lane_due(topic_key(slot, name), more .. ':') end

-- The next take puts it back. A handler that is still at it may acknowledge until then.
function mend.held_without_lease() redis.call('ZADD', topic_key(slot, name) .. ':lease', now, more) end

-- Which message of a group it was, the claim knew alone.
function mend.held_without_claim()
  local t = topic_key(slot, name)
  if is_grouped(more) then return false end
  local waits = redis.call('HSETNX', t .. ':msg', more, redis.call('HGET', t .. ':held', more)) == 1
  free_lane(t, more)
  if waits then set_due(t, more, now) end
end

function mend.lane_without_message() redis.call('ZREM', topic_key(slot, name) .. ':due', more) end

if mend[kind] and mend[kind]() ~= false then return {1} end
return {0, kind}
