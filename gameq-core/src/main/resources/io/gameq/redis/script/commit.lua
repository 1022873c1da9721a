-- One commit as a script: a spanning commit, one with messages or rows sent to other owners beside its rows, or one sent again after its
-- reply was lost. Checks every session, every key that must be new, then every message, before it writes anything; compares versions row
-- by row, and messages by its journal, so that it may run any number of times, late or early.
-- KEYS[i] '{ns:slot}' of part i, prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, due ZSET, journal HASH, inboxes:<owner>
--   HASH, sent:<process> HASH; then those of its messages, prefix of: mjournal HASH, t:<topic>:* as package io.gameq.redis.topic draws them
-- ARGV[1] WAL id, '' to leave no journal mark; ARGV[2] WAL sequence; ARGV[3] number of parts; ARGV[4] sequence below which nothing with
--   messages is ever sent again; ARGV[5] mode, see batches.lua; then for each part: owner, or inbox; session; of an inbox the newest
--   sequence of this WAL that Redis has acknowledged in the slot, else 0; when due, ms of Redis TIME; number of rows n; n times field,
--   row; then its messages, if it has any, as a commit by itself: see batches.lua; of a replay its acknowledgements alone, which are not
--   journaled: they come again with the others, in the order of the WAL
-- Returns {1} when applied; {0, index from 0 of the first part that may not write, the session that owns it or ''}, also when Redis has
--   lost that sequence, as an inbox has no own key that would tell; {2, message} when it is not claimed any more by the token of its
--   acknowledgement; {3, message} when it is not what was expected; {4, index of the part, field} when a row with this key waits to be
--   flushed already: nothing was written; or the error WRONGTYPE, naming the key, when somebody else wrote into gameq's keys: nor was
--   it then.
local wal, sequence, kept, mode = ARGV[1], ARGV[2], tonumber(ARGV[4]), ARGV[5]
local parts, at, messages, journals = {}, 6, nil, {}
local is_first, is_replay = mode == '0', mode == '2'

-- A field of rows that are sent which is there already. When its answer was lost, a newer version may be a change of this very row.
local function field_in_use(part, to)
  local places, holder = keys_of_inboxes(part.slot, to), owner_of(part.slot, to)
  places[#places + 1] = claimed_key(part.slot, to)
  if holder then places[#places + 1] = dirty_key(part.slot, to, holder) end
  for i = part.first, part.first + 2 * part.rows - 1, 2 do
    for _, place in ipairs(places) do
      local there = redis.call('HGET', place, ARGV[i])
      if there and (is_first or is_newer(ARGV[i + 1], there)) then return ARGV[i] end
    end
  end
  return nil
end

for i = 1, tonumber(ARGV[3]) do
  local owner, session = ARGV[at], ARGV[at + 1]
  local owned_by = own(KEYS[i], owner)
  if owned_by ~= session then return {0, i - 1, owned_by or ''} end
  if is_first and tonumber(ARGV[at + 2]) > tonumber(redis.call('HGET', KEYS[i] .. ':journal', wal) or 0) then return {0, i - 1, ''} end
  local dirty = dirty_key(KEYS[i], owner, session)
  local wrong = wrong_type(dirty)
  if wrong then return redis.error_reply(wrong) end
  local rows = tonumber(ARGV[at + 4])
  parts[i] = {slot = KEYS[i], owner = owner, session = session, dirty = dirty, due = ARGV[at + 3], first = at + 5, rows = rows}
  parts[i].to = owner_of_inbox(owner)
  local in_use = parts[i].to and not is_replay and field_in_use(parts[i], parts[i].to)
  if in_use then return {4, i - 1, in_use} end
  at = at + 5 + 2 * parts[i].rows
end
if ARGV[at] then
  messages = read_commit(at)
  leave_what_is_there(messages, wal, kept, journals)
  local refused = refusal_of_commit(messages, false, mode)
  if refused and refused[1] == 'type' then return redis.error_reply(refused[2]) end
  if refused then return {refused[1] == 'claim' and 2 or 3, refused[2]} end
end
for _, part in ipairs(parts) do
  for i = part.first, part.first + 2 * part.rows - 1, 2 do
    if is_newer(ARGV[i + 1], redis.call('HGET', part.dirty, ARGV[i])) then redis.call('HSET', part.dirty, ARGV[i], ARGV[i + 1]) end
  end
  if part.rows > 0 then redis.call('ZADD', part.slot .. ':due', 'LT', part.due, member(part.owner, part.session)) end
  if part.to then
    local function row(i) return ARGV[part.first + 2 * i - 2], ARGV[part.first + 2 * i - 1] end
    came_into(part.slot, part.owner, part.session, not is_first, row, part.rows)
  end
  local mark = wal ~= '' and redis.call('HGET', part.slot .. ':journal', wal)
  if wal ~= '' and (not mark or tonumber(mark) < tonumber(sequence)) then redis.call('HSET', part.slot .. ':journal', wal, sequence) end
end
if messages and is_replay then
  for _, b in ipairs(messages.batches) do apply(b, mode) end
elseif messages then
  apply_commit(messages, wal, mode, journals)
end
return {1}
