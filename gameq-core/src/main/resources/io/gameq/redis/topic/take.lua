-- Takes messages that are due, each under a lease. First puts back those whose lease ran out. Runs at maxmemory.
-- Where Redis' clock went back since the newest take, what that clock had put off is brought forward, of the first 20,000 lanes: leases to
-- what is left of them, the next attempts of what failed by as much as it went back, and recurring messages to their next occurrence.
-- What was published with a time keeps it.
-- KEYS[1] '{ns:slot}', prefix of t:<topic>:msg, due, ready, behind, lane:<group>, held, claim, lease, tries, age, fence: see package
--   io.gameq.redis.topic
-- ARGV[1] topic; ARGV[2] most messages, at most 1,000; ARGV[3] token, a UUID new for this call; ARGV[4] lease, ms; ARGV[5] by how much
--   of being due earlier one step of priority counts, ms; 0 for a topic without priorities; ARGV[6] node; ARGV[7] the latest Redis
--   TIME that the node knew, ms; of a topic of owners ARGV[8] the process that takes what it handles, or '' for who opens owners that
--   nobody handles
-- Returns {ms until the next is due, -1 for none, 0 when more are due now; how many leases ran out; Redis TIME, ms; fencing token: ms,
--   count, 0 and 0 when nothing was taken; then for each message taken: id; attempts, this one counted; leases of it that ran out, as
--   text; when it was due, ms; value}. The fence rises, also where Redis' clock goes back, or a server took over whose clock is behind and
--   that does not know the newest takes: its ms are no time.
local slot, topic, token, age, node = KEYS[1], ARGV[1], ARGV[3] .. ' ', tonumber(ARGV[5]), ' ' .. ARGV[6]
local latest = tonumber(ARGV[7])
local COLON = 58 -- ends the lane of a group, and no other
local most = tonumber(ARGV[2])
local t, now = topic_key(slot, topic), now_millis()
local due_key, ready_key, claim_key, msg_key = t .. ':due', t .. ':ready', t .. ':claim', t .. ':msg'
-- In a topic of owners: lanes that other processes found for this one; for who opens owners, lanes that nobody handles.
local process = ARGV[8]
local found_key = process and (process == '' and t .. ':unhandled' or t .. ':for:' .. process)

local function until_next()
  if process and redis.call('EXISTS', found_key) == 1 then return 0 end
  local due = first_due(t)
  if age > 0 and redis.call('EXISTS', ready_key) == 1 then return 0 end
  return due and math.max(0, due - now) or -1
end

local fence, number, last_taken = read_fence(t)
local back = last_taken and last_taken - now or 0
-- The clock is cut to milliseconds: a lease that ends in this one may have a part of it left.
local lapsed = redis.call('ZRANGEBYSCORE', t .. ':lease', '-inf', '(' .. whole(now), 'LIMIT', 0, 100)
if #lapsed == 0 and back <= BACK_MILLIS then
  local wait = until_next()
  if wait ~= 0 then return {wait, 0, now, 0, 0} end
end
write_even_when_full(slot)

local MOST_PUT_OFF, STEP = 20000, 1000

-- When a message is due that was to be due later than now; nil for as it is. Its value is changed where that says so as well.
local function due_by_this_clock(id, due)
  local value = redis.call('HGET', msg_key, id)
  if not value then return nil end
  if redis.call('HEXISTS', t .. ':tries', id) == 1 then return math.max(now, due - back) end
  if not is_recurring(value) or since_of(value) ~= due then return nil end -- else somebody put it off
  local occurrence = within_interval(value, due, now)
  if occurrence == due then
    -- By cron an earlier one may have been passed over: who takes this one, which is none, finds the next.
    if string.sub(value, 31, 35) ~= 'cron ' then return nil end
    occurrence = now
  end
  redis.call('HSET', msg_key, id, with_since(value, occurrence))
  return occurrence
end

local function bring_forward()
  local longest = now + tonumber(ARGV[4])
  local far = redis.call('ZRANGEBYSCORE', t .. ':lease', '(' .. whole(longest), '+inf', 'WITHSCORES', 'LIMIT', 0, MOST_PUT_OFF)
  for i = 1, #far, 2 do
    redis.call('ZADD', t .. ':lease', whole(math.max(longest, tonumber(far[i + 1]) - back)), far[i])
  end
  local waiting = redis.call('ZRANGEBYSCORE', due_key, '(' .. whole(now), '+inf', 'LIMIT', 0, MOST_PUT_OFF)
  for _, lane in ipairs(waiting) do
    local ids = {lane, redis.call('ZSCORE', due_key, lane)}
    if is_grouped(lane) then
      ids = redis.call('ZRANGEBYSCORE', lane_key(t, lane), '(' .. whole(now), '+inf', 'WITHSCORES', 'LIMIT', 0, STEP)
    end
    for i = 1, #ids, 2 do
      local due = due_by_this_clock(ids[i], tonumber(ids[i + 1]))
      if due then set_due(t, ids[i], whole(due)) end
    end
    if is_grouped(lane) then set_lane_due(t, lane) end -- it may wait for longer than its messages
  end
  redis.call('SET', t .. ':fence', whole(fence) .. ' ' .. number .. ' ' .. whole(now))
end

if back > BACK_MILLIS then bring_forward() end

for _, lane in ipairs(lapsed) do
  local claim = lane_claim(t, lane)
  if claim then
    claim.lapses = claim.lapses + 1
    put_back(t, claim, lane, claim.due, 'its lease ran out at node ' .. claim.node)
  else
    free_lane(t, lane)
  end
end

-- The message that is next in a grouped lane, and when it is due; nil when there is none.
local function head_of(lane)
  local head = redis.call('ZRANGE', lane_key(t, lane), 0, 0, 'WITHSCORES')
  return head[1], head[2]
end

-- Sorts lanes that fell due in by priority: a bounded number, more than are taken, so that a backlog is sorted in soon.
local function move_to_ready()
  local fell_due = redis.call('ZRANGEBYSCORE', due_key, '-inf', now, 'WITHSCORES', 'LIMIT', 0, math.max(2 * most, 200))
  if #fell_due == 0 then return end
  if redis.call('GET', t .. ':age') ~= ARGV[5] then redis.call('SET', t .. ':age', ARGV[5]) end
  local ready, lanes = {}, {}
  for i = 1, #fell_due, 2 do
    local lane, id, due = fell_due[i], fell_due[i], fell_due[i + 1]
    if is_grouped(lane) then
      local head, head_due = head_of(lane)
      id, due = head or lane, head_due or due
    end
    local value = redis.call('HGET', msg_key, id)
    lanes[#lanes + 1] = lane
    if value then
      ready[#ready + 1] = whole(tonumber(due) - priority_of(value) * age)
      ready[#ready + 1] = lane
    end
  end
  redis.call('ZREM', due_key, unpack(lanes))
  if #ready > 0 then redis.call('ZADD', ready_key, unpack(ready)) end
end

-- Has lanes that were found for this process, or that nobody handles, be due as they were.
local function fetch_found()
  local lanes = redis.call('ZRANGE', found_key, 0, most - 1, 'WITHSCORES')
  if #lanes == 0 then return end
  for i = 1, #lanes, 2 do
    if process == '' then
      redis.call('ZADD', due_key, lanes[i + 1], lanes[i])
    else
      redis.call('ZADD', due_key, 'XX', lanes[i + 1], lanes[i])
    end
  end
  redis.call('ZREMRANGEBYRANK', found_key, 0, #lanes / 2 - 1)
end

-- Of lanes that are the first in order those that this process is to take. A lane of another process is left for it; it is due again in
-- case that is gone by then. One that nobody handles waits until somebody does.
local function route(lanes, dues)
  local owners, mine, mine_due, told = {}, {}, {}, {}
  for i, lane in ipairs(lanes) do owners[i] = string.sub(lane, 1, -2) end
  local handlers = redis.call('HMGET', t .. ':handlers', unpack(owners))
  for i, lane in ipairs(lanes) do
    local handler = handlers[i] and process_of(handlers[i])
    if handler and not is_alive(t, handler, now) then handler = nil end
    if (handler or '') == process then
      mine[#mine + 1], mine_due[#mine + 1] = lane, dues[i]
    elseif handler then
      redis.call('ZADD', due_key, 'XX', whole(now + LEFT_MILLIS), lane)
      redis.call('ZADD', t .. ':for:' .. handler, dues[i], lane)
      told[handler] = true
    else
      redis.call('ZREM', due_key, lane)
      redis.call('ZADD', t .. ':unhandled', dues[i], lane)
      told[''] = true
    end
  end
  local namespace, in_slot = string.match(slot, '^{(.*):(%d+)}$')
  for handler in pairs(told) do
    if handler ~= '' then redis.call('PEXPIRE', t .. ':for:' .. handler, KEPT_MILLIS) end
    redis.call('PUBLISH', namespace .. ':t:' .. topic, in_slot .. ' ' .. handler)
  end
  return mine, mine_due
end

local from = age > 0 and ready_key or due_key
local held, claims, leases, taken, attempted = {}, {}, {}, {}, nil
local deadline = whole(now + tonumber(ARGV[4]))
local reply = {0, #lapsed, now, 0, 0}
local any_tries = redis.call('EXISTS', t .. ':tries') == 1

-- Takes of lanes that are the first in order, with when they are due; what is held stands behind, what has no message is dropped.
local function take(lanes, dues)
  local ids, is_group, back = {}, {}, {}
  local stands = redis.call('HMGET', claim_key, unpack(lanes))
  for i = 1, #lanes do
    local lane = lanes[i]
    ids[i] = lane
    if string.byte(lane, -1) == COLON then
      is_group[i] = true
      if not stands[i] then
        local id, due = head_of(lane)
        ids[i], dues[i] = id or '', due
      end
    end
  end
  local values = redis.call('HMGET', msg_key, unpack(ids))
  local tries = any_tries and redis.call('HMGET', t .. ':tries', unpack(ids)) or {}
  local n = #taken
  for i = 1, #lanes do
    local lane, id, value, due = lanes[i], ids[i], values[i], dues[i]
    if value and age > 0 and not is_group[i] then due = whole(tonumber(due) + priority_of(value) * age) end
    if stands[i] then
      if value and not is_group[i] then redis.call('ZADD', t .. ':behind', 'LT', due, lane) end
    elseif not value then
      if is_group[i] and id ~= '' then
        redis.call('ZREM', lane_key(t, lane), id) -- somebody deleted its value by hand
        back[#back + 1] = lane
      end
    elseif is_group[i] and tonumber(due) > now then
      back[#back + 1] = lane
    else
      local attempts, lapses = 1, '0'
      if tries[i] then
        local before, ran_out = string.match(tries[i], '^(%d+) (%d+)$')
        attempts, lapses = before + 1, ran_out
        attempted = attempted or {}
        attempted[#attempted + 1] = id
      end
      if is_group[i] then redis.call('ZREM', lane_key(t, lane), id) end
      local at = 2 * n + 1
      n = n + 1
      taken[n] = id
      held[at], held[at + 1] = lane, value
      claims[at], claims[at + 1] = lane, token .. id .. ' held ' .. attempts .. ' ' .. lapses .. ' ' .. due .. node
      leases[at], leases[at + 1] = deadline, lane
      at = 5 * n
      reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4], reply[at + 5] = id, attempts, lapses, due, value
    end
  end
  redis.call('ZREMRANGEBYRANK', from, 0, #lanes - 1)
  for _, lane in ipairs(back) do set_lane_due(t, lane) end
end

if process then fetch_found() end
-- Where many lanes are held, empty or others', a few rounds more find others.
for _ = 1, 4 do
  local left = most - #taken
  if left == 0 then break end
  if age > 0 then move_to_ready() end
  local range
  if age > 0 then
    range = redis.call('ZRANGE', ready_key, 0, left - 1, 'WITHSCORES')
  else
    range = redis.call('ZRANGEBYSCORE', due_key, '-inf', now, 'WITHSCORES', 'LIMIT', 0, process and math.max(left, MOST_ROUTED) or left)
  end
  if #range == 0 then break end
  local lanes, dues = {}, {}
  for i = 1, #range, 2 do
    lanes[(i + 1) / 2], dues[(i + 1) / 2] = range[i], range[i + 1]
  end
  if process then lanes, dues = route(lanes, dues) end
  for i = #lanes, left + 1, -1 do lanes[i] = nil end
  if #lanes > 0 then take(lanes, dues) end
end

if #taken > 0 then
  redis.call('HDEL', msg_key, unpack(taken))
  redis.call('HSET', t .. ':held', unpack(held))
  redis.call('HSET', claim_key, unpack(claims))
  redis.call('ZADD', t .. ':lease', unpack(leases))
  if attempted then forget_tries(t, attempted) end
  local least = math.max(now, latest)
  if fence and fence >= least then
    number = number + 1
    if number > 65535 then fence, number = fence + 1, 0 end
  else
    fence, number = least, 0
  end
  redis.call('SET', t .. ':fence', whole(fence) .. ' ' .. number .. ' ' .. whole(now))
  reply[4], reply[5] = fence, number
end
reply[1] = until_next()
return reply
