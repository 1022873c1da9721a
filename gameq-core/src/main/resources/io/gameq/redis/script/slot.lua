-- Put in front of every script: names of the keys of one slot, the clock, and the merge.
-- slot is the key prefix '{namespace:slot}', which scripts take as KEYS[1] and put in front of the names of all keys of the slot, drawn
-- in package io.gameq.redis; owner is an encoded owner id; session is '<epoch>-<nonce>', 16 hex digits each, so that sessions compare by
-- epoch as strings. A row is '<version, 16 hex digits><op byte><MessagePack>', a field its '<table>:<primary key>'.
local function own_key(slot, owner) return slot .. ':own:' .. owner end
local function dirty_key(slot, owner, session) return slot .. ':dirty:' .. owner .. ':' .. session end
local function claimed_key(slot, owner) return slot .. ':claimed:' .. owner end
local function member(owner, session) return owner .. ':' .. session end

-- An inbox is an owner '<owner>!<process>': what one node sends to an owner. Asked of every owner, and cheaper than a pattern.
local function is_inbox(owner) return string.find(owner, '!', 1, true) ~= nil end

-- Nobody opens an inbox, so that its session is always the same. Nil of what is no inbox.
local function inbox_session(owner)
  if not is_inbox(owner) then return nil end
  local process = string.match(owner, '!(%x+)$')
  return process and '0000000000000000-' .. process .. '00000000'
end

-- The session that owns, or nil; also nil when somebody else wrote something else there: who owns is asked of MySQL then.
local function owner_of(slot, owner)
  local session = inbox_session(owner) or redis.pcall('GET', own_key(slot, owner))
  return type(session) == 'string' and session or nil
end

-- The same; an error when somebody else wrote something else there.
local function own(slot, owner) return inbox_session(owner) or redis.call('GET', own_key(slot, owner)) or nil end

-- Why no rows can be put there, as the text of an error: somebody else wrote something else. Nil when they can.
local function wrong_type(key)
  local kind = redis.call('TYPE', key).ok
  return kind ~= 'none' and kind ~= 'hash' and 'WRONGTYPE ' .. key .. ' is a ' .. kind .. ', not a hash' or nil
end

-- Milliseconds since 1970 on the server's clock.
local function now_millis()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- No rows are due later than this: a merge window is 10 minutes at most, and rows that were given back wait for less. What is due later
-- was written while Redis' clock was ahead, or by somebody else.
local function latest_due(now) return now + 660000 end

-- A script whose first write needs no memory may go on writing at maxmemory (any Redis version). For what drains or takes over.
local function write_even_when_full(slot) redis.call('DEL', slot .. ':none') end

-- A primary that was demoted answers READONLY to a script that writes: what only reads must not believe what a replica holds.
local function refuse_on_a_replica(slot) redis.call('DEL', slot .. ':none') end

local function is_newer(row, than) return not than or string.sub(than, 1, 16) < string.sub(row, 1, 16) end

-- Moves the rows of hash 'from' into hash 'into', never over a newer row.
local function merge(from, into)
  if redis.call('EXISTS', from) == 0 then return end
  if redis.call('EXISTS', into) == 0 then
    redis.call('RENAME', from, into)
    return
  end
  local rows = redis.call('HGETALL', from)
  for i = 1, #rows, 2 do
    if is_newer(rows[i + 1], redis.call('HGET', into, rows[i])) then redis.call('HSET', into, rows[i], rows[i + 1]) end
  end
  redis.call('DEL', from)
end

-- Tells the node of a session that another one owns now: 'lost owner session' on 'ns:session:<first 8 hex digits of the nonce>'.
local function tell_lost(slot, owner, session)
  local namespace = string.match(slot, '^{(.*):%d+}$')
  redis.call('PUBLISH', namespace .. ':session:' .. string.sub(session, 18, 25), table.concat({'lost', owner, session}, ' '))
end
