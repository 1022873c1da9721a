-- Put in front of the scripts of topics, after slot.lua: what happens to messages in one slot, and the journal of message commits.
-- All keys of a topic begin with t = '{ns:slot}:t:<topic>'; package io.gameq.redis.topic draws them. A lane is what is handled one at a
-- time: '<group>:' of a grouped message, else the id. A value is '<version, 16 hex digits><since, 8><priority, 4><length, 2><schedule>
-- <payload>', big-endian. Lists that go into one command have at most 1,000 members: unpack fails near 8,000.
-- Wherever something may be due sooner than all before it, and within five seconds, the slot's number is published on 'ns:t:<topic>'.
local SIGNAL_MILLIS = 5000
-- Redis' clock went back when it is behind a time that it told by more than this.
local BACK_MILLIS = 1000

local function topic_key(slot, topic) return slot .. ':t:' .. topic end
local function is_grouped(id) return string.find(id, ':', 1, true) ~= nil end
local function lane_of(id) return string.match(id, '^[^:]*:') or id end
local function lane_key(t, lane) return t .. ':lane:' .. string.sub(lane, 1, -2) end
local function version_of(value) return string.sub(value, 1, 16) end
local function since_of(value) return (struct.unpack('>d', value, 17)) end
local function priority_of(value) return (struct.unpack('>i4', value, 25)) end
local function is_recurring(value) return string.byte(value, 29) > 0 or string.byte(value, 30) > 0 end
local function with_since(value, millis) return version_of(value) .. struct.pack('>d', millis) .. string.sub(value, 25) end
local function whole(number) return string.format('%.0f', number) end

-- An occurrence of a message that recurs at an interval, as many intervals earlier as it is farther ahead of now than one of them: it was
-- reckoned while Redis' clock was ahead. The same when it is no farther ahead, or the message recurs by cron.
local function within_interval(value, occurrence, now)
  local schedule = string.sub(value, 31, 30 + struct.unpack('>H', value, 29))
  local every = tonumber(string.match(schedule, '^every (%d+)'))
  if not every or occurrence - now <= every then return occurrence end
  return occurrence - math.ceil((occurrence - now - every) / every) * every
end

-- {ns:slot}:t:<topic>:fence STRING 'ms count taken': ms and count of the newest take, which never go back; Redis TIME at that take, ms.
local function read_fence(t)
  local millis, count, taken = string.match(redis.call('GET', t .. ':fence') or '', '^(%d+) (%d+) ?(%d*)$')
  return tonumber(millis), tonumber(count), tonumber(taken) or tonumber(millis)
end

-- The next occurrence of a message that was handled: its handler may have got it before the clock went back.
local function next_occurrence(t, value, next_due)
  local now, millis = now_millis(), read_fence(t)
  return millis and millis - now > BACK_MILLIS and within_interval(value, next_due, now) or next_due
end

-- The version after this one, as text.
local function next_version(version)
  local high, low = tonumber(string.sub(version, 1, 12), 16), tonumber(string.sub(version, 13), 16) + 1
  if low > 65535 then high, low = high + 1, 0 end
  return string.format('%06x%06x%04x', math.floor(high / 16777216), high % 16777216, low)
end

-- Why keys of a topic cannot be used, as text; nil when they can. Takes name, type, name, type ...
local function wrong_keys(t, ...)
  local expected = {...}
  for i = 1, #expected, 2 do
    local key = t .. ':' .. expected[i]
    local kind = redis.call('TYPE', key).ok
    if kind ~= 'none' and kind ~= expected[i + 1] then
      return 'WRONGTYPE ' .. key .. ' is a ' .. kind .. ', not a ' .. expected[i + 1]
    end
  end
  return nil
end

-- When the first of all lanes is due, ms, or nil.
local function first_due(t) return tonumber(redis.call('ZRANGE', t .. ':due', 0, 0, 'WITHSCORES')[2]) end

-- Wakes the consumers if something is due before 'was', which first_due said before the change.
local function wake(slot, topic, t, was)
  local due = first_due(t)
  if due and (not was or due < was) and due <= now_millis() + SIGNAL_MILLIS then
    local namespace, number = string.match(slot, '^{(.*):(%d+)}$')
    redis.call('PUBLISH', namespace .. ':t:' .. topic, number)
  end
end

-- Has a grouped lane be due when its first message is; what a priority had brought to the front stands there no more, nor does it wait for
-- somebody who handles its owner's.
local function set_lane_due(t, lane)
  local head = redis.call('ZRANGE', lane_key(t, lane), 0, 0, 'WITHSCORES')
  redis.call('ZREM', t .. ':ready', lane)
  redis.call('ZREM', t .. ':unhandled', lane)
  if head[1] then
    redis.call('ZADD', t .. ':due', head[2], lane)
  else
    redis.call('ZREM', t .. ':due', lane)
  end
end

-- Has a pending message be due at 'when'.
local function set_due(t, id, when)
  if is_grouped(id) then
    local lane = lane_of(id)
    redis.call('ZADD', lane_key(t, lane), when, id)
    set_lane_due(t, lane)
  else
    redis.call('ZREM', t .. ':ready', id)
    redis.call('ZREM', t .. ':behind', id)
    redis.call('ZADD', t .. ':due', when, id)
  end
end

-- Of messages that do not wait for another attempt any more.
local function forget_tries(t, ids)
  if redis.call('HDEL', t .. ':tries', unpack(ids)) > 0 then redis.call('HDEL', t .. ':failed', unpack(ids)) end
end

-- Removes a pending message.
local function remove_pending(t, id)
  redis.call('HDEL', t .. ':msg', id)
  forget_tries(t, {id})
  if is_grouped(id) then
    local lane = lane_of(id)
    redis.call('ZREM', lane_key(t, lane), id)
    set_lane_due(t, lane)
  else
    redis.call('ZREM', t .. ':due', id)
    redis.call('ZREM', t .. ':ready', id)
    redis.call('ZREM', t .. ':behind', id)
  end
end

-- {ns:slot}:t:<topic>:claim HASH lane -> 'token id state attempts lapses due node'; the state is held, or deleted when the message was
-- deleted while it is held: then it does not come back. The node's name is percent-encoded.
-- Builds before this one wrote no state, and ' x' behind the node's name when it was deleted.
local function read_claim(record)
  local token, id, state, attempts, lapses, due, node = string.match(record, '^(%S+) (%S+) (%a+) (%d+) (%d+) (%S+) (%S+)$')
  if not token then
    local mark
    token, id, attempts, lapses, due, node, mark = string.match(record, '^(%S+) (%S+) (%d+) (%d+) (%S+) (%S+)( ?x?)$')
    state = mark == ' x' and 'deleted' or 'held'
  end
  return {
    token = token, id = id, deleted = state == 'deleted', attempts = tonumber(attempts), lapses = tonumber(lapses), due = due, node = node
  }
end

local function lane_claim(t, lane)
  local record = redis.call('HGET', t .. ':claim', lane)
  return record and read_claim(record) or nil
end

-- Frees a lane that was held: what waits behind is due again.
local function free_lane(t, lane)
  redis.call('HDEL', t .. ':claim', lane)
  redis.call('HDEL', t .. ':held', lane)
  redis.call('ZREM', t .. ':lease', lane)
  if is_grouped(lane) then
    set_lane_due(t, lane)
  else
    local due = redis.call('ZSCORE', t .. ':behind', lane)
    if due then
      redis.call('ZREM', t .. ':behind', lane)
      redis.call('ZADD', t .. ':due', 'LT', due, lane)
    end
  end
end

-- The value of this message that is held, or nil.
local function held_value(t, id)
  local lane = lane_of(id)
  local claim = lane_claim(t, lane)
  return claim and claim.id == id and redis.call('HGET', t .. ':held', lane) or nil
end
