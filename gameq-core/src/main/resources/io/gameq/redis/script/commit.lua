-- One commit as a script: a spanning commit, one with messages or rows sent to other owners beside its rows, or one sent again after its
-- reply was lost. Checks every session, every key that must be new, then every message, before it writes anything; compares versions row
-- by row, and those of messages where it may come a second time, so that it may run any number of times.
-- KEYS[i] '{ns:slot}' of its slots, each once, prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, due ZSET, journal HASH,
--   inboxes:<owner> HASH, sent:<process> HASH, t:<topic>:* as package io.gameq.redis.topic draws them
-- ARGV[1] WAL id, '' of a replay, which moves no marks; ARGV[2] mode, see batches.lua; ARGV[3] sequence; ARGV[4] the oldest sequence that
--   waits for an answer; unless the WAL id is '', for each KEYS[i] its marks: see journal.lua; number of parts; for each part: number of
--   its slot among KEYS; owner, or inbox; session; when due, ms of Redis TIME;
--   number of rows n; n times field, row; then its messages, if it has any, as a commit by itself: see batches.lua; of a replay its
--   acknowledgements alone
-- Returns {1, the marks before it of each KEYS[i]} when applied; {0, index from 0 of the first part that may not write, the session that
--   owns it or ''}; {2, message} when it is not claimed any more by the token of its acknowledgement; {3, message} when it is not what was
--   expected; {4, index of the part, field} when a row with this key waits to be flushed already; {5, number of the first of KEYS whose
--   mark does not fit}: nothing was written but the marks, which {2}, {3}, {4} and {0} of a newer session move and tell behind it; or the
--   error WRONGTYPE, naming the key, when somebody else wrote into gameq's keys: nor was it then.
local wal, mode = ARGV[1], ARGV[2]
local parts, at, messages, marks = {}, 5, nil, {}
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

-- A refused commit is decided: the marks move past it, and its answer, which may be lost, is remembered.
local function decided(answer)
  if wal ~= '' then
    move_marks(wal, 5)
    remember_refused(wal, ARGV[4], {ARGV[3]}, {})
    answer[#answer + 1] = marks
  end
  return answer
end

if wal ~= '' then
  marks, at = read_marks(wal, 5)
  if not marks then return {5, at} end
end
local count = tonumber(ARGV[at])
at = at + 1
for i = 1, count do
  local slot, owner, session = KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2]
  local owned_by = own(slot, owner)
  if owned_by and owned_by > session then return decided({0, i - 1, owned_by}) end
  if owned_by ~= session then return {0, i - 1, owned_by or ''} end -- Redis has forgotten it: it comes again
  local dirty = dirty_key(slot, owner, session)
  local wrong = wrong_type(dirty)
  if wrong then return redis.error_reply(wrong) end
  local rows = tonumber(ARGV[at + 4])
  parts[i] = {slot = slot, owner = owner, session = session, dirty = dirty, due = ARGV[at + 3], first = at + 5, rows = rows}
  parts[i].to = owner_of_inbox(owner)
  local in_use = parts[i].to and not is_replay and field_in_use(parts[i], parts[i].to)
  if in_use then return decided({4, i - 1, in_use}) end
  at = at + 5 + 2 * rows
end
if ARGV[at] then
  messages = read_commit(at)
  local refused = refusal_of_commit(messages, false, mode)
  if refused and refused[1] == 'type' then return redis.error_reply(refused[2]) end
  if refused then return decided({refused[1] == 'claim' and 2 or 3, refused[2]}) end
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
end
if messages then
  for _, b in ipairs(messages.batches) do apply(b, mode) end
end
if wal ~= '' then
  move_marks(wal, 5)
  if mode == '1' then remember_refused(wal, ARGV[4], {}, {ARGV[3]}) end
end
return {1, marks}
