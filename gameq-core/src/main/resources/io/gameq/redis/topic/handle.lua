-- A process says that it is there, and of which owners it handles the messages of a topic, or no more. Messages that waited for that are
-- due. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of t:<topic>:handlers HASH, alive HASH, unhandled ZSET, due ZSET, lane:<group> ZSET: see handlers.lua
-- ARGV[1] topic; ARGV[2] process; then for each owner, up to 1,000: owner; epoch of its session, 16 hex digits; 1 when the process
--   handles its messages from now on, 0 when it does no more, by this session or an earlier one, or by any where the epoch is ''. A later
--   session's process stays.
-- Returns {1, or 0 when the process did not count as there: what it said before may be forgotten, so it is to say all of it again}.
local GONE_MILLIS, LOOKED_AT = 3600000, 4
local slot, topic, process = KEYS[1], ARGV[1], ARGV[2]
write_even_when_full(slot)
local t, now = topic_key(slot, topic), now_millis()
local handlers, was_due = t .. ':handlers', first_due(t)
local was_alive = is_alive(t, process, now)
redis.call('HSET', t .. ':alive', process, whole(now))

local function is_gone(other) return math.abs(now - (tonumber(redis.call('HGET', t .. ':alive', other)) or 0)) > GONE_MILLIS end

-- What processes left that died is found bit by bit.
for _, owner in ipairs(redis.call('HRANDFIELD', handlers, LOOKED_AT)) do
  local other = process_of(redis.call('HGET', handlers, owner))
  if other ~= process and is_gone(other) then redis.call('HDEL', handlers, owner) end
end
for _, other in ipairs(redis.call('HRANDFIELD', t .. ':alive', 1)) do
  if is_gone(other) then redis.call('HDEL', t .. ':alive', other) end
end

for i = 3, #ARGV, 3 do
  local owner, epoch, lane = ARGV[i], ARGV[i + 1], ARGV[i] .. ':'
  local before = redis.call('HGET', handlers, owner)
  local is_changed
  if ARGV[i + 2] == '1' then
    is_changed = not before or string.sub(before, 1, 16) <= epoch
    if is_changed then redis.call('HSET', handlers, owner, epoch .. ' ' .. process) end
  else
    is_changed = before and process_of(before) == process and (epoch == '' or string.sub(before, 1, 16) <= epoch)
    if is_changed then redis.call('HDEL', handlers, owner) end
  end
  if is_changed and redis.call('EXISTS', lane_key(t, lane)) == 1 then set_lane_due(t, lane) end
end
wake(slot, topic, t, was_due)
return {was_alive and 1 or 0}
