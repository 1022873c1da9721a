-- Put in front of scripts of topics of owners, after topic.lua and lanes.lua: which process handles the messages of which owner.
-- {ns:slot}:t:<topic>:handlers HASH owner -> '<epoch of its session, 16 hex digits> <process>'
-- {ns:slot}:t:<topic>:alive HASH process -> when it last said that it is there, ms; what it handles counts for ALIVE_MILLIS from then on
-- {ns:slot}:t:<topic>:for:<process> ZSET lane -> when it was due: what others found for that process. It is due as well, LEFT_MILLIS later
-- {ns:slot}:t:<topic>:unhandled ZSET lane -> when it was due: nobody handles the owner's messages; not in due
local ALIVE_MILLIS, LEFT_MILLIS, KEPT_MILLIS, MOST_ROUTED = 15000, 5000, 60000, 100

local said = {}

local function process_of(handler) return string.sub(handler, 18) end

local function is_alive(t, process, now)
  if not said[process] then said[process] = tonumber(redis.call('HGET', t .. ':alive', process)) or -ALIVE_MILLIS end
  return math.abs(now - said[process]) < ALIVE_MILLIS
end
