-- What waits in a slot, at a cost that does not grow with what waits. Changes nothing, and is refused on a replica. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: due ZSET, ready LIST, lease ZSET, dirty:<owner>:<session> HASH, claimed:<owner> HASH, claim HASH,
--   stale SET, closing SET, healing SET
-- ARGV[1] most owners whose rows are counted: who knows how many rows these have can estimate how many all have; ARGV[2...] tables, as
--   fields name them, whose rows wait because an operator wants it: they do not count as old; with '!' before it, tables that MySQL
--   takes no rows of, which count as held up
-- Returns {Redis TIME, ms; owners in due; of these, how many may be claimed by now; owners in ready; claimed owners; of these, how many
--   whose lease ran out; since when the one waits who has waited for longest, ms, or 0: the earliest of a time at which somebody was due
--   and of the times of some rows each of those who are next or last in due; the same without owners that are held up, since MySQL
--   refused a row of theirs, and without the last; owners whose rows were counted; their rows; sessions with stale rows; owners
--   in closing; owners in healing; keys that hold somebody else's values}
local slot, most = KEYS[1], tonumber(ARGV[1])
local paused, refused = {}, {}
for i = 2, #ARGV do
  if string.sub(ARGV[i], 1, 1) == '!' then refused[string.sub(ARGV[i], 2)] = true else paused[ARGV[i]] = true end
end
refuse_on_a_replica(slot)
local now, foreign = now_millis(), 0

-- Where somebody else's value is, there is nothing of ours.
local function ask(otherwise, ...)
  local answer = redis.pcall(...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  foreign = foreign + 1
  return otherwise
end

local due, ready, lease = slot .. ':due', slot .. ':ready', slot .. ':lease'
local next_ready = ask({}, 'LRANGE', ready, -1, -1)
local first_lease = ask({}, 'ZRANGE', lease, 0, 0)

-- Of owners that are held up others wait behind them, in due: so many are looked at.
local MOST_HELD_UP = 15

local oldest, oldest_passing = 0, 0
local function waits_since(millis, passes)
  if not millis or millis > now then return end
  if oldest == 0 or millis < oldest then oldest = millis end
  if passes and (oldest_passing == 0 or millis < oldest_passing) then oldest_passing = millis end
end

-- Whether MySQL refused a row of the owner, and it is tried again.
local function is_held_up(owner)
  local record = ask(false, 'HGET', slot .. ':claim', owner)
  local since = record and string.match(record, '^%S+ %S+ %d+ %d+ (%d+) ') or '0'
  return since ~= '0'
end

-- When a row was committed is in its version. The oldest of four has waited for most of the time that the oldest of all has, though others
-- are written again and again; among eight there is most often one that is to be written.
local function waits_as_rows_of(hash, passes)
  local rows = ask({}, 'HRANDFIELD', hash, #ARGV > 1 and 8 or 4, 'WITHVALUES')
  for i = 1, #rows, 2 do
    local of = string.match(rows[i], '^[^:]*')
    if not paused[of] then
      waits_since(tonumber(string.sub(rows[i + 1], 1, 12), 16), passes and not refused[of])
    end
  end
end

-- The first of these, and the first that is not held up; where so many are, the last counts as if it were not: others may wait behind it.
local function wait_as_due(entries)
  for i = 1, #entries, 2 do
    local at, passes = tonumber(entries[i + 1]), i > 2 * MOST_HELD_UP or not is_held_up(string.match(entries[i], '^[^:]*'))
    if at > 0 then waits_since(at, passes) end
    waits_as_rows_of(slot .. ':dirty:' .. entries[i], passes)
    if passes then return end
  end
end

local first_due = ask({}, 'ZRANGE', due, 0, MOST_HELD_UP, 'WITHSCORES')
wait_as_due(first_due)
-- Who is urgent is due at 0 or less, and comes before who waits for longer.
if first_due[1] and tonumber(first_due[2]) <= 0 then
  wait_as_due(ask({}, 'ZRANGEBYSCORE', due, '(0', '+inf', 'WITHSCORES', 'LIMIT', 0, MOST_HELD_UP + 1))
end
-- Who is locked is left alone for longer than anybody's merge window.
for _, of in ipairs(ask({}, 'ZRANGE', due, -3, -1)) do waits_as_rows_of(slot .. ':dirty:' .. of, false) end
if next_ready[1] then
  waits_as_rows_of(slot .. ':dirty:' .. next_ready[1], not is_held_up(string.match(next_ready[1], '^[^:]*')))
end
if first_lease[1] then waits_as_rows_of(claimed_key(slot, first_lease[1]), not is_held_up(first_lease[1])) end

local counted, rows = 0, 0
local function count(members)
  for _, of in ipairs(members) do
    if counted < most then
      counted, rows = counted + 1, rows + ask(0, 'HLEN', slot .. ':dirty:' .. of)
    end
  end
end
if first_due[1] then count(ask({}, 'ZRANDMEMBER', due, most)) end
if next_ready[1] then count(ask({}, 'LRANGE', ready, -most, -1)) end

return {
  now, ask(0, 'ZCARD', due), ask(0, 'ZCOUNT', due, '-inf', now), ask(0, 'LLEN', ready), ask(0, 'ZCARD', lease),
  ask(0, 'ZCOUNT', lease, '-inf', now), oldest, oldest_passing, counted, rows, ask(0, 'SCARD', slot .. ':stale'),
  ask(0, 'SCARD', slot .. ':closing'), ask(0, 'SCARD', slot .. ':healing'), foreign
}
