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
-- versions count. REPLAY, of a WAL: versions count, tokens do not, and what is over is remembered for a week.
-- Whether the rows of an acknowledgement count beside those of another handler MySQL decides, not a script.
local FIRST, AGAIN, REPLAY = '0', '1', '2'
local DONE_MILLIS, MOST_DONE = 7 * 86400000, 50000 -- longer than messages of a left WAL may be replayed: LeftMessages.OLDEST, six days
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

local function make_room(key)
  local lives = redis.call('PTTL', key)
  if lives >= 0 and lives <= DONE_MILLIS or redis.call('HLEN', key) >= MOST_DONE then
    redis.call('RENAME', key, key .. ':before')
    redis.call('PEXPIRE', key .. ':before', DONE_MILLIS)
  end
end

local function remember_done(t, id, version, next_due)
  local key = t .. ':done'
  if says_done(redis.call('HGET', key, id), version, next_due) then return end
  make_room(key)
  local before = redis.call('HGET', key .. ':before', id)
  if says_done(before, version, next_due) then version, next_due = read_done(before) end
  redis.call('HSET', key, id, next_due == 0 and version or version .. ' ' .. whole(next_due))
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, 2 * DONE_MILLIS) end
end

-- {ns:slot}:t:<topic>:back HASH id -> version that was put back, once: its WAL may be replayed again after somebody handled it. Kept as
-- done is.
local function was_put_back(t, id, version)
  return redis.call('HGET', t .. ':back', id) == version or redis.call('HGET', t .. ':back:before', id) == version
end

local function remember_back(t, id, version)
  local key = t .. ':back'
  make_room(key)
  redis.call('HSET', key, id, version)
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, 2 * DONE_MILLIS) end
end

-- Which occurrence a value is, as text; '0' of one that does not recur.
local function occurrence_of(value) return value and is_recurring(value) and whole(since_of(value)) or '0' end

-- Of a recurring message that was acknowledged: when it is due again, 0 for never, and the occurrence, as text; else 0 and '0'.
local function next_of(word)
  if word == '0' then return 0, '0' end
  local next_due, occurrence = string.match(word, '^(%d+) (%d+)$')
  return tonumber(next_due), occurrence
end

-- What a publish is worth now that may come late: nil when it is over or overtaken, else when it is due.
local function due_when_late(t, id, due, value, mode)
  local version = version_of(value)
  for _, there in ipairs({redis.call('HGET', t .. ':msg', id) or '', held_value(t, id) or ''}) do
    if there ~= '' and version_of(there) >= version then return nil end
  end
  local done, next_due
  if mode == REPLAY then
    if was_put_back(t, id, version) then return nil end
    done, next_due = done_of(t, id)
  end
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

local function add_due(b, key, ...)
  if b.keeps then
    redis.call('ZADD', key, 'LT', ...)
  else
    redis.call('ZADD', key, ...)
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
    if #over > 0 then forget_tries(t, over) end
    if not b.keeps and not b.grouped then redis.call('ZREM', t .. ':behind', unpack(ids)) end
    out_of_ready(b, ids, dues, by_id)
  end
  redis.call('HSET', t .. ':msg', unpack(values))
  if b.grouped then
    for i = 1, #ids do add_due(b, lane_key(t, dues[2 * i]), dues[2 * i - 1], ids[i]) end
  end
  if b.grouped and (waits or not b.keeps) then
    for i = 1, #ids do set_lane_due(t, dues[2 * i]) end
  else
    add_due(b, t .. ':due', unpack(dues))
  end
  if mode == REPLAY then
    for i = 1, #ids do remember_back(t, ids[i], version_of(values[2 * i])) end
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
    local claim = mode ~= REPLAY and claims[i] and read_claim(claims[i])
    if claim and claim.id == ids[i] and not claim.deleted then
      local held = mode == AGAIN and redis.call('HGET', b.t .. ':held', lanes[i])
      if not held or version_of(held) <= ARGV[b.first + (i - 1) * 3 + 2] then
        local record = {claim.token, claim.id, 'deleted', claim.attempts, claim.lapses, claim.due, claim.node}
        redis.call('HSET', b.t .. ':claim', lanes[i], table.concat(record, ' '))
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

-- For each acknowledgement of a batch whether it counts: 1 when its claim stands, 2 when the message was deleted meanwhile, 3 when the
-- message waits as if nobody had taken it, perhaps behind another of its group; else false.
local function standing(b, ids, lanes)
  local claims, stands, at = redis.call('HMGET', b.t .. ':claim', unpack(lanes)), {}, b.first + 2
  for i = 1, b.n do
    local claim, stand = claims[i], false
    if claim then
      if string.find(claim, ARGV[at] .. ' ' .. ids[i] .. ' held ', 1, true) == 1 then
        stand = 1 -- nearly every one
      elseif string.find(claim, ARGV[at] .. ' ' .. ids[i] .. ' ', 1, true) == 1 then
        stand = read_claim(claim).deleted and 2 or 1
      end
    end
    if not stand and waits_as_handled(b.t, ids[i], ARGV[at + 2]) then stand = 3 end
    stands[i] = stand
    at = at + WORDS.a
  end
  return stands
end

-- The next occurrences of recurring messages, unless something newer is pending.
local function recur(t, id, value, next_due)
  next_due = next_occurrence(t, value, next_due)
  if redis.call('HSETNX', t .. ':msg', id, with_since(value, next_due)) == 1 then set_due(t, id, whole(next_due)) end
end

-- Ends the claims of acknowledgements that stand.
local function acknowledge(b, ids, lanes, stands)
  local t, done, next_dues = b.t, {}, nil
  for i = 1, b.n do
    if stands[i] == 3 then
      remove_pending(t, ids[i]) -- its lane is free, or another's
    elseif stands[i] then
      done[#done + 1] = lanes[i]
      local at = b.first + (i - 1) * WORDS.a
      local next_due = ARGV[at + 3] == '0' and 0 or next_of(ARGV[at + 3])
      if next_due > 0 and stands[i] == 1 then
        next_dues = next_dues or {}
        next_dues[#next_dues + 1] = {id = ids[i], due = next_due, value = redis.call('HGET', t .. ':held', lanes[i])}
      end
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
-- occurrences are over that are before the next one. 'at' is its place in ARGV.
local function acknowledge_again(t, at)
  local id, version = ARGV[at + 1], ARGV[at + 4]
  local next_due, occurrence = next_of(ARGV[at + 3])
  local held, pending, dead = held_value(t, id), redis.call('HGET', t .. ':msg', id), redis.call('HGET', t .. ':dead', id)
  local over
  if is_over(held, version, next_due) then
    over = held
    free_lane(t, lane_of(id))
  end
  if is_over(pending, version, next_due) then
    over = pending
    remove_pending(t, id)
  end
  if dead and version_of(dead) == version and occurrence_of(dead) == occurrence then
    redis.call('HDEL', t .. ':dead', id)
    redis.call('HDEL', t .. ':why', id)
  end
  if over and next_due > 0 and not (held and not is_over(held, version, next_due)) then recur(t, id, over, next_due) end
  remember_done(t, id, version, next_due)
end

-- Why a batch cannot be applied: {kind, text}; nil when it can. Nothing is written.
local function refusal(b, is_full, mode)
  if b.kind == 'p' and is_full then return {'full', ''} end
  local wrong = wrong_keys(b.t, 'msg', 'hash')
  if not wrong and b.kind ~= 'e' then
    wrong = wrong_keys(b.t, 'due', 'zset', 'ready', 'zset', 'behind', 'zset', 'tries', 'hash', 'failed', 'hash')
  end
  if not wrong and (b.kind ~= 'p' and b.kind ~= 'e' or mode ~= FIRST) then
    wrong = wrong_keys(b.t, 'claim', 'hash', 'held', 'hash', 'lease', 'zset')
  end
  if not wrong and b.kind == 'a' then wrong = wrong_keys(b.t, 'dead', 'hash', 'why', 'hash') end
  if not wrong and mode ~= FIRST then
    wrong = wrong_keys(b.t, 'done', 'hash', 'done:before', 'hash', 'back', 'hash', 'back:before', 'hash')
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

-- Why a batch of a commit of its own cannot be applied: as refusal, and all claims and expected versions must stand as well, but
-- in a replay: to end again what is over changes nothing.
local function refusal_as_a_whole(b, is_full, mode)
  local refused = refusal(b, is_full, mode)
  if refused or mode == REPLAY then return refused end
  if b.kind == 'a' then
    local ids, lanes = read_ids(b, 1)
    for i, stands in ipairs(standing(b, ids, lanes)) do
      if not stands then return {'claim', b.topic .. '/' .. ids[i]} end
    end
  elseif b.kind == 'e' then
    local ids = read_ids(b, 0)
    local pending = redis.call('HMGET', b.t .. ':msg', unpack(ids))
    for i = 1, b.n do
      local version = pending[i] and version_of(pending[i]) or '0000000000000000'
      if version ~= ARGV[b.first + (i - 1) * 2 + 1] then return {'changed', b.topic .. '/' .. ids[i]} end
    end
  end
  return nil
end

local function acknowledge_batch(b, mode)
  if mode == REPLAY then
    local was_due = first_due(b.t)
    for i = 1, b.n do acknowledge_again(b.t, b.first + (i - 1) * WORDS.a) end
    wake(b.slot, b.topic, b.t, was_due)
  else
    local ids, lanes = read_ids(b, 1)
    acknowledge(b, ids, lanes, standing(b, ids, lanes))
  end
end

local BY_KIND = {p = publish, r = retime, d = delete, a = acknowledge_batch}

-- Applies a batch of which nothing is to be refused; what is expected changes nothing.
local function apply(b, mode)
  if b.kind ~= 'e' then BY_KIND[b.kind](b, mode) end
end

-- A commit by itself: c; sequence; number of batches; the batches.
local function read_commit(at)
  local c, batches = {sequence = ARGV[at + 1], batches = {}}, tonumber(ARGV[at + 2])
  at = at + 3
  for i = 1, batches do c.batches[i], at = read_batch(at) end
  return c, at
end

local function refusal_of_commit(c, is_full, mode)
  for _, b in ipairs(c.batches) do
    local refused = refusal_as_a_whole(b, is_full, mode)
    if refused then return refused end
  end
  return nil
end
