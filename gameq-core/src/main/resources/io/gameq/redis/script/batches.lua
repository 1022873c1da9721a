-- Put in front of messages.lua and commit.lua, after topic.lua: what commits do to messages, in batches of one kind, slot and topic.
-- A batch in ARGV: kind; number of its slot among KEYS; topic; 1 if its messages are grouped, else 0; how many; then
--   p publish      1 if an earlier due time stays, else 0; longest time from the first publish until due, ms, 0 for no limit;
--                  for each: id; due, ms of Redis TIME; value
--   r retime       for each: sequence; id; due; version of the commit
--   d delete       for each: sequence; id; version of the commit
--   a acknowledge  for each: sequence; id; token; 0, or of a recurring one 'next-due occurrence', which is its 'since'; version that was
--                  handled
--   e expect       for each: id; version that is pending, or 0 for none
-- MODE: FIRST, what is sent for the first time: order of arrival counts. AGAIN, its answer was lost, and something newer may have come:
-- versions count. REPLAY, of a WAL: versions count, tokens do not, and what is over is remembered for a week. But an acknowledgement
-- is refused, with the rows and messages of its commit, when another one has ended the message since its own lease ran out.
local FIRST, AGAIN, REPLAY = '0', '1', '2'
local DONE_MILLIS, MOST_DONE = 7 * 86400000, 50000 -- longer than messages of a left WAL may be replayed: LeftMessages.OLDEST, six days
local ENDED_MILLIS, MOST_ENDED = 31 * 86400000, 5000 -- longer than deleted rows are remembered
local WORDS = {p = 3, r = 4, d = 3, a = 5, e = 2}

-- Reads the batch at a place of ARGV; returns it, and the place behind it.
local function read_batch(at)
  local slot, topic, n = KEYS[tonumber(ARGV[at + 1])], ARGV[at + 2], tonumber(ARGV[at + 4])
  local b = {kind = ARGV[at], slot = slot, topic = topic, t = topic_key(slot, topic), grouped = ARGV[at + 3] == '1', n = n, first = at + 5}
  if b.kind == 'p' then
    b.keeps, b.cap, b.first = ARGV[at + 5] == '1', tonumber(ARGV[at + 6]), at + 7
  end
  return b, b.first + n * WORDS[b.kind]
end

-- Lanes of a batch of which the ids stand at 'offset' in each item.
local function read_ids(b, offset)
  local ids, lanes, at, words = {}, nil, b.first + offset, WORDS[b.kind]
  for i = 1, b.n do
    ids[i] = ARGV[at]
    at = at + words
  end
  lanes = ids
  if b.grouped then
    lanes = {}
    for i = 1, b.n do lanes[i] = lane_of(ids[i]) end
  end
  return ids, lanes
end

-- {ns:slot}:t:<topic>:done HASH id -> 'version' or 'version next due'. A full one, or one that was begun DONE_MILLIS ago, becomes
-- done:before, in place of the one that was: each entry stays for DONE_MILLIS, unless MOST_DONE others come, and for thrice that at most.
local function read_done(record) return string.sub(record, 1, 16), tonumber(string.sub(record, 18)) or 0 end

-- Whether a record says that a version is over, up to its next due time.
local function says_done(record, version, next_due)
  if not record then return false end
  local known, known_next = read_done(record)
  return known > version or known == version and (known_next == 0 or next_due ~= 0 and known_next >= next_due)
end

local function done_of(t, id)
  local here, before = redis.call('HGET', t .. ':done', id), redis.call('HGET', t .. ':done:before', id)
  if before and (not here or says_done(before, read_done(here))) then here = before end
  if here then return read_done(here) end
end

local function remember_done(t, id, version, next_due)
  local key = t .. ':done'
  if says_done(redis.call('HGET', key, id), version, next_due) then return end
  local lives = redis.call('PTTL', key)
  if lives >= 0 and lives <= DONE_MILLIS or redis.call('HLEN', key) >= MOST_DONE then
    redis.call('RENAME', key, key .. ':before')
    redis.call('PEXPIRE', key .. ':before', DONE_MILLIS)
  end
  local before = redis.call('HGET', key .. ':before', id)
  if says_done(before, version, next_due) then version, next_due = read_done(before) end
  redis.call('HSET', key, id, next_due == 0 and version or version .. ' ' .. whole(next_due))
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, 2 * DONE_MILLIS) end
end

-- {ns:slot}:t:<topic>:ended HASH 'id version occurrence' -> token: who ended a message that others may have handled as well. A full one
-- becomes ended:before, in place of the one that was.
local function occurrence_of(value) return value and is_recurring(value) and whole(since_of(value)) or '0' end

-- Of a recurring message that was acknowledged: when it is due again, 0 for never, and the occurrence, as text; else 0 and '0'.
local function next_of(word)
  if word == '0' then return 0, '0' end
  local next_due, occurrence = string.match(word, '^(%d+) (%d+)$')
  return tonumber(next_due), occurrence
end

local function remember_ended(t, id, version, occurrence, token)
  local key = t .. ':ended'
  if redis.call('HLEN', key) >= MOST_ENDED then redis.call('RENAME', key, key .. ':before') end
  redis.call('HSETNX', key, id .. ' ' .. version .. ' ' .. occurrence, token)
  redis.call('PEXPIRE', key, ENDED_MILLIS)
end

local function is_ended_by_another(t, id, version, occurrence, token)
  local field = id .. ' ' .. version .. ' ' .. occurrence
  local by = redis.call('HGET', t .. ':ended', field) or redis.call('HGET', t .. ':ended:before', field)
  return by and by ~= token
end

-- What a publish is worth now that may come late: nil when it is over or overtaken, else when it is due.
local function due_when_late(t, id, due, value, mode)
  local version = version_of(value)
  for _, there in ipairs({redis.call('HGET', t .. ':msg', id) or '', held_value(t, id) or ''}) do
    if there ~= '' and version_of(there) >= version then return nil end
  end
  local done, next_due
  if mode == REPLAY then done, next_due = done_of(t, id) end
  if not done or done < version then return due end
  return done == version and next_due > 0 and whole(next_due) or nil
end

-- What is to be written of a batch of publishes: ids; id, value ...; due, lane ...
local function read_publishes(b, mode)
  local ids, values, dues, at, j = {}, {}, {}, b.first, 0
  for i = 1, b.n do
    local id, due, value = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    if mode ~= FIRST then
      due = due_when_late(b.t, id, due, value, mode)
      if due and due ~= ARGV[at + 1] and is_recurring(value) then value = with_since(value, tonumber(due)) end
    end
    if due then
      ids[i - j] = id
      values[2 * (i - j) - 1], values[2 * (i - j)] = id, value
      dues[2 * (i - j) - 1], dues[2 * (i - j)] = due, b.grouped and lane_of(id) or id
    else
      j = j + 1
    end
    at = at + 3
  end
  return ids, values, dues
end

-- Puts the values over those that are pending; returns the ids of these.
local function lay_over(b, ids, values, dues, pending)
  local over = {}
  for i = 1, #ids do
    local old, value = pending[i], values[2 * i]
    if old then
      local version = version_of(old)
      if version >= version_of(value) then value = next_version(version) .. string.sub(value, 17) end
      if not is_recurring(value) and not is_recurring(old) then
        value = string.sub(value, 1, 16) .. string.sub(old, 17, 24) .. string.sub(value, 25)
      end
      if b.cap > 0 then
        local latest = since_of(value) + b.cap
        if latest < tonumber(dues[2 * i - 1]) then dues[2 * i - 1] = whole(latest) end
      end
      over[#over + 1] = ids[i]
      values[2 * i] = value
    end
  end
  return over
end

-- Lanes that a priority had brought to the front go back to be sorted in anew, without losing their age.
local function out_of_ready(b, ids, dues, pending)
  local age = tonumber(redis.call('GET', b.t .. ':age') or 0)
  for i = 1, #ids do
    local lane = dues[2 * i]
    local score = redis.call('ZSCORE', b.t .. ':ready', lane)
    if score then
      redis.call('ZREM', b.t .. ':ready', lane)
      local was = pending[ids[i]]
      if not b.grouped and b.keeps and was then
        local due = tonumber(score) + priority_of(was) * age
        if due < tonumber(dues[2 * i - 1]) then dues[2 * i - 1] = whole(due) end
      end
    end
  end
end

local function publish(b, mode)
  local t = b.t
  local ids, values, dues = read_publishes(b, mode)
  if #ids == 0 then return end
  local was_due = first_due(t)
  local pending = redis.call('HMGET', t .. ':msg', unpack(ids))
  local waits = redis.call('EXISTS', t .. ':ready', t .. ':behind', t .. ':tries') > 0
  local by_id = {}
  if waits then
    for i = 1, #ids do by_id[ids[i]] = pending[i] end
  end
  local over = lay_over(b, ids, values, dues, pending)
  if waits then
    if #over > 0 then redis.call('HDEL', t .. ':tries', unpack(over)) end
    if not b.keeps and not b.grouped then redis.call('ZREM', t .. ':behind', unpack(ids)) end
    out_of_ready(b, ids, dues, by_id)
  end
  redis.call('HSET', t .. ':msg', unpack(values))
  if not b.grouped then
    if b.keeps then
      redis.call('ZADD', t .. ':due', 'LT', unpack(dues))
    else
      redis.call('ZADD', t .. ':due', unpack(dues))
    end
  else
    for i = 1, #ids do
      local lane = dues[2 * i]
      if b.keeps then
        redis.call('ZADD', lane_key(t, lane), 'LT', dues[2 * i - 1], ids[i])
      else
        redis.call('ZADD', lane_key(t, lane), dues[2 * i - 1], ids[i])
      end
    end
    if b.keeps and not waits then
      redis.call('ZADD', t .. ':due', 'LT', unpack(dues))
    else
      for i = 1, #ids do set_lane_due(t, dues[2 * i]) end
    end
  end
  wake(b.slot, b.topic, t, was_due)
end

-- The pending value of each id; without those that are newer than the commit, unless order of arrival counts.
local function pending_of(b, mode, ids, version_offset)
  local pending = redis.call('HMGET', b.t .. ':msg', unpack(ids))
  if mode ~= FIRST then
    for i = 1, b.n do
      local version = ARGV[b.first + (i - 1) * WORDS[b.kind] + version_offset]
      if pending[i] and version_of(pending[i]) > version then pending[i] = false end
    end
  end
  return pending
end

local function retime(b, mode)
  local ids = read_ids(b, 1)
  local was_due, pending = first_due(b.t), pending_of(b, mode, ids, 3)
  for i = 1, b.n do
    if pending[i] then set_due(b.t, ids[i], ARGV[b.first + (i - 1) * 4 + 2]) end
  end
  wake(b.slot, b.topic, b.t, was_due)
end

local function delete(b, mode)
  local ids, lanes = read_ids(b, 1)
  local pending, claims = pending_of(b, mode, ids, 2), redis.call('HMGET', b.t .. ':claim', unpack(lanes))
  for i = 1, b.n do
    if pending[i] then remove_pending(b.t, ids[i]) end
    -- What is held is finished, and does not come back.
    if mode ~= REPLAY and claims[i] and string.sub(claims[i], -2) ~= ' x' and string.match(claims[i], '^%S+ (%S+)') == ids[i] then
      local held = mode == AGAIN and redis.call('HGET', b.t .. ':held', lanes[i])
      if not held or version_of(held) <= ARGV[b.first + (i - 1) * 3 + 2] then
        redis.call('HSET', b.t .. ':claim', lanes[i], claims[i] .. ' x')
      end
    end
    if mode == REPLAY then
      local version = ARGV[b.first + (i - 1) * 3 + 2]
      local held = held_value(b.t, ids[i])
      if held and version_of(held) <= version then free_lane(b.t, lane_of(ids[i])) end
      remember_done(b.t, ids[i], version, 0)
    end
  end
end

-- Whether a message, or its occurrence before the next one, is over once this version was handled.
local function is_over(value, version, next_due)
  if not value or version_of(value) > version then return false end
  return next_due == 0 or not is_recurring(value) or since_of(value) < next_due
end

-- Whether what was handled waits as if nobody had taken it: a failover forgot its claim. One whose lease ran out, or that failed, has
-- tries, and may have been handled by others since; which occurrence of a recurring one was handled its version does not tell.
local function waits_as_handled(t, id, version)
  local value = redis.call('HGET', t .. ':msg', id)
  return value and version_of(value) == version and not is_recurring(value) and redis.call('HEXISTS', t .. ':tries', id) == 0
end

-- Whether leases of a message ran out: those before this claim, or before these tries, in which they come after as many attempts.
local function has_lapsed(record, pattern)
  local lapses = record and string.match(record, pattern)
  return lapses and lapses ~= '0'
end
local OF_CLAIM, OF_TRIES = '^%S+ %S+ %d+ (%d+)', '^%d+ (%d+)'

-- For each acknowledgement of a batch whether it counts: 1 when its claim stands, 2 when the message was deleted meanwhile, 3 when nobody
-- claims its lane and the message waits as if nobody had taken it; else false. And whether leases had run out before its claim, or nil.
local function standing(b, ids, lanes)
  local claims, stands, lapsed, at = redis.call('HMGET', b.t .. ':claim', unpack(lanes)), {}, {}, b.first + 2
  for i = 1, b.n do
    local claim, stand = claims[i], false
    if claim then
      if string.find(claim, ARGV[at] .. ' ' .. ids[i] .. ' 1 0 ', 1, true) == 1 then
        stand = 1 -- nearly every one is of a first attempt
      elseif string.find(claim, ARGV[at] .. ' ' .. ids[i] .. ' ', 1, true) == 1 then
        stand, lapsed[i] = 1, has_lapsed(claim, OF_CLAIM)
      end
      if stand and string.sub(claim, -2) == ' x' then stand = 2 end
    elseif waits_as_handled(b.t, ids[i], ARGV[at + 2]) then
      stand = 3
    end
    stands[i] = stand
    at = at + WORDS.a
  end
  return stands, lapsed
end

-- The next occurrences of recurring messages, unless something newer is pending.
local function recur(t, id, value, next_due)
  if redis.call('HSETNX', t .. ':msg', id, with_since(value, next_due)) == 1 then set_due(t, id, whole(next_due)) end
end

-- Ends the claims of acknowledgements that stand.
local function acknowledge(b, ids, lanes, stands, lapsed)
  local t, done, next_dues = b.t, {}, nil
  for i = 1, b.n do
    if stands[i] then
      done[#done + 1] = lanes[i]
      local at = b.first + (i - 1) * WORDS.a
      local next_due = ARGV[at + 3] == '0' and 0 or next_of(ARGV[at + 3])
      if lapsed[i] then
        remember_ended(t, ids[i], ARGV[at + 4], occurrence_of(redis.call('HGET', t .. ':held', lanes[i])), ARGV[at + 2])
      end
      if next_due > 0 and stands[i] == 1 then
        next_dues = next_dues or {}
        next_dues[#next_dues + 1] = {id = ids[i], due = next_due, value = redis.call('HGET', t .. ':held', lanes[i])}
      end
      if stands[i] == 3 then remove_pending(t, ids[i]) end
    end
  end
  if #done == 0 then return end
  redis.call('HDEL', t .. ':claim', unpack(done))
  redis.call('HDEL', t .. ':held', unpack(done))
  redis.call('ZREM', t .. ':lease', unpack(done))
  local waits = not b.grouped and redis.call('EXISTS', t .. ':behind') == 1
  if not (b.grouped or waits or next_dues) then return end
  local was_due = first_due(t)
  for _, of in ipairs(next_dues or {}) do
    if of.value then recur(t, of.id, of.value, of.due) end
  end
  if b.grouped then
    for _, lane in ipairs(done) do set_lane_due(t, lane) end
  elseif waits then
    local behind, again, back = redis.call('ZMSCORE', t .. ':behind', unpack(done)), {}, {}
    for i = 1, #done do
      if behind[i] then
        back[#back + 1] = done[i]
        again[#again + 1] = behind[i]
        again[#again + 1] = done[i]
      end
    end
    if #back > 0 then
      redis.call('ZREM', t .. ':behind', unpack(back))
      redis.call('ZADD', t .. ':due', 'LT', unpack(again))
    end
  end
  wake(b.slot, b.topic, t, was_due)
end

-- An acknowledgement out of a WAL: the handled value, and older ones, are over, whoever holds them. Of a recurring message those
-- occurrences are over that are before the next one. 'at' is its place in ARGV; has_rows tells whether it counts only once.
local function acknowledge_again(t, at, has_rows)
  local id, token, version = ARGV[at + 1], ARGV[at + 2], ARGV[at + 4]
  local next_due, occurrence = next_of(ARGV[at + 3])
  local held, pending, dead = held_value(t, id), redis.call('HGET', t .. ':msg', id), redis.call('HGET', t .. ':dead', id)
  local over, by_others
  if is_over(held, version, next_due) then
    over = held
    local claim = redis.call('HGET', t .. ':claim', lane_of(id))
    by_others = has_lapsed(claim, OF_CLAIM) or string.find(claim, token .. ' ', 1, true) ~= 1
    free_lane(t, lane_of(id))
  end
  if is_over(pending, version, next_due) then
    over = pending
    by_others = by_others or has_lapsed(redis.call('HGET', t .. ':tries', id), OF_TRIES)
    remove_pending(t, id)
  end
  if dead and version_of(dead) == version and occurrence_of(dead) == occurrence then
    by_others = true
    redis.call('HDEL', t .. ':dead', id)
    redis.call('HDEL', t .. ':why', id)
  end
  if has_rows or by_others then remember_ended(t, id, version, occurrence, token) end
  if over and next_due > 0 and not (held and not is_over(held, version, next_due)) then recur(t, id, over, next_due) end
  remember_done(t, id, version, next_due)
end

-- Why a batch cannot be applied: {kind, text}; nil when it can. Nothing is written.
local function refusal(b, is_full, mode)
  local wrong
  if b.kind == 'p' then
    if is_full then return {'full', ''} end
    wrong = wrong_keys(b.t, 'msg', 'hash', 'due', 'zset', 'ready', 'zset', 'behind', 'zset', 'tries', 'hash')
  elseif b.kind == 'e' then
    wrong = wrong_keys(b.t, 'msg', 'hash')
  else
    wrong = wrong_keys(b.t, 'msg', 'hash', 'due', 'zset', 'ready', 'zset', 'behind', 'zset', 'tries', 'hash')
        or wrong_keys(b.t, 'claim', 'hash', 'held', 'hash', 'lease', 'zset')
  end
  if not wrong and b.kind == 'a' then wrong = wrong_keys(b.t, 'ended', 'hash', 'ended:before', 'hash', 'dead', 'hash', 'why', 'hash') end
  if not wrong and mode ~= FIRST then
    wrong = wrong_keys(b.t, 'done', 'hash', 'done:before', 'hash', 'claim', 'hash', 'held', 'hash', 'lease', 'zset')
  end
  if not wrong and b.grouped and b.kind ~= 'e' then
    local _, lanes = read_ids(b, b.kind == 'p' and 0 or 1)
    local last
    for _, lane in ipairs(lanes) do
      if lane ~= last then wrong = wrong or wrong_keys(b.t, 'lane:' .. string.sub(lane, 1, -2), 'zset') end
      last = lane
    end
  end
  return wrong and {'type', wrong} or nil
end

-- For each acknowledgement of a batch out of a WAL whether it does not come too late.
local function in_time(b, ids)
  local are = {}
  for i = 1, b.n do
    local at = b.first + (i - 1) * WORDS.a
    local _, occurrence = next_of(ARGV[at + 3])
    are[i] = not is_ended_by_another(b.t, ids[i], ARGV[at + 4], occurrence, ARGV[at + 2])
  end
  return are
end

-- Why a batch of a commit of its own cannot be applied: as refusal, and all claims and expected versions must stand as well. Where
-- nothing but acknowledgements is replayed, each stands for itself: to end again what is over changes nothing.
local function refusal_as_a_whole(b, is_full, mode, is_alone)
  local refused = refusal(b, is_full, mode)
  if refused then return refused end
  if b.kind == 'a' and not (mode == REPLAY and is_alone) then
    local ids, lanes = read_ids(b, 1)
    for i, stands in ipairs(mode == REPLAY and in_time(b, ids) or standing(b, ids, lanes)) do
      if not stands then return {'claim', b.topic .. '/' .. ids[i]} end
    end
  elseif b.kind == 'e' and mode ~= REPLAY then
    local ids = read_ids(b, 0)
    local pending = redis.call('HMGET', b.t .. ':msg', unpack(ids))
    for i = 1, b.n do
      local version = pending[i] and version_of(pending[i]) or '0000000000000000'
      if version ~= ARGV[b.first + (i - 1) * 2 + 1] then return {'changed', b.topic .. '/' .. ids[i]} end
    end
  end
  return nil
end

-- Applies a batch of which nothing is to be refused; of one that is replayed with the rows of its commit has_rows is true.
local function apply(b, mode, has_rows)
  if b.kind == 'p' then
    publish(b, mode)
  elseif b.kind == 'r' then
    retime(b, mode)
  elseif b.kind == 'd' then
    delete(b, mode)
  elseif b.kind == 'a' then
    local ids, lanes = read_ids(b, 1)
    if mode == REPLAY then
      local was_due = first_due(b.t)
      for i = 1, b.n do
        acknowledge_again(b.t, b.first + (i - 1) * WORDS.a, has_rows)
      end
      wake(b.slot, b.topic, b.t, was_due)
    else
      acknowledge(b, ids, lanes, standing(b, ids, lanes))
    end
  end
end

-- {ns:slot}:mjournal HASH: WAL id -> sequence of the newest commit with messages of that WAL in this slot; '<WAL id>!' -> holes, commits
-- before it that were refused, 'after-to after-to ...', ascending: those above 'after' up to 'to'.
local MOST_HOLES = 64

local function read_journal(slot, wal, kept)
  local got = redis.call('HMGET', slot .. ':mjournal', wal, wal .. '!')
  local journal = {mark = tonumber(got[1] or 0), holes = {}, was = got[2] or ''}
  for after, to in string.gmatch(journal.was, '(%d+)-(%d+)') do
    if tonumber(to) >= kept then journal.holes[#journal.holes + 1] = {tonumber(after), tonumber(to)} end
  end
  return journal
end

local function lacks(journal, sequence)
  if sequence > journal.mark then return true end
  for _, hole in ipairs(journal.holes) do
    if hole[1] < sequence and sequence <= hole[2] then return true end
  end
  return false
end

-- Commits above 'after' up to 'to' are not here.
local function add_hole(journal, after, to)
  if after >= to then return end
  local holes = journal.holes
  local place = #holes + 1
  while place > 1 and holes[place - 1][1] >= after do place = place - 1 end
  table.insert(holes, place, {after, to})
  local joined = {}
  for _, hole in ipairs(holes) do
    local last = joined[#joined]
    if last and hole[1] <= last[2] then
      last[2] = math.max(last[2], hole[2])
    else
      joined[#joined + 1] = hole
    end
  end
  while #joined > MOST_HOLES do
    joined[2][1] = joined[1][1]
    table.remove(joined, 1)
  end
  journal.holes = joined
end

-- Commits above 'after' up to 'to' are here, out of holes perhaps.
local function fill(journal, after, to)
  local holes = {}
  for _, hole in ipairs(journal.holes) do
    if hole[1] < math.min(hole[2], after) then holes[#holes + 1] = {hole[1], math.min(hole[2], after)} end
    if hole[2] > math.max(hole[1], to) then holes[#holes + 1] = {math.max(hole[1], to), hole[2]} end
  end
  journal.holes = holes
end

local function write_journal(slot, wal, journal)
  local texts = {}
  for i, hole in ipairs(journal.holes) do texts[i] = whole(hole[1]) .. '-' .. whole(hole[2]) end
  local holes = table.concat(texts, ' ')
  redis.call('HSET', slot .. ':mjournal', wal, whole(journal.mark))
  if holes == '' and journal.was ~= '' then redis.call('HDEL', slot .. ':mjournal', wal .. '!') end
  if holes ~= '' and holes ~= journal.was then redis.call('HSET', slot .. ':mjournal', wal .. '!', holes) end
end

-- A commit by itself: c; sequence; number of slots; for each its number among KEYS and the sequence of the commit with messages that was
-- sent before it, 0 when that is unknown: then it may have been applied already; number of batches; the batches.
local function read_commit(at)
  local c = {sequence = tonumber(ARGV[at + 1]), slots = {}, batches = {}}
  local slots = tonumber(ARGV[at + 2])
  at = at + 3
  for i = 1, slots do
    c.slots[i] = {slot = KEYS[tonumber(ARGV[at])], before = tonumber(ARGV[at + 1])}
    at = at + 2
  end
  local batches = tonumber(ARGV[at])
  at = at + 1
  for i = 1, batches do c.batches[i], at = read_batch(at) end
  return c, at
end

-- Reads the journals of a commit, and takes out the batches of slots that have it already.
local function leave_what_is_there(c, wal, kept, journals)
  local there = {}
  for _, of in ipairs(c.slots) do
    journals[of.slot] = journals[of.slot] or read_journal(of.slot, wal, kept)
    there[of.slot] = of.before == 0 and not lacks(journals[of.slot], c.sequence)
  end
  local batches = {}
  for _, b in ipairs(c.batches) do
    if not there[b.slot] then batches[#batches + 1] = b end
  end
  c.batches, c.there = batches, there
end

local function refusal_of_commit(c, is_full, mode, has_rows)
  local is_alone = not has_rows
  for _, b in ipairs(c.batches) do is_alone = is_alone and b.kind == 'a' end
  for _, b in ipairs(c.batches) do
    local refused = refusal_as_a_whole(b, is_full, mode, is_alone)
    if refused then return refused end
  end
  return nil
end

-- Notes in the journals of a commit's slots that it is here, or, when it was refused, that it is missing, whatever comes after it.
local function note_commit(c, wal, journals, is_here)
  for _, of in ipairs(c.slots) do
    local journal = journals[of.slot]
    if not c.there[of.slot] then
      add_hole(journal, journal.mark, of.before)
      if is_here then
        fill(journal, c.sequence - 1, c.sequence)
      else
        add_hole(journal, c.sequence - 1, c.sequence)
      end
      journal.mark = math.max(journal.mark, c.sequence)
    end
    write_journal(of.slot, wal, journal)
  end
end

-- Applies a commit that is not to be refused, and notes it in the journals.
local function apply_commit(c, wal, mode, journals)
  for _, b in ipairs(c.batches) do
    -- A WAL of which nothing was here has nothing that could be sent again.
    apply(b, mode == AGAIN and journals[b.slot].mark == 0 and FIRST or mode)
  end
  note_commit(c, wal, journals, true)
end
