-- Put in front of doctor.lua and mend.lua, after topic.lua and ailments.lua: what is wrong with one thing of a topic. It is named by
-- its place and two texts, of which the first is the topic:
--   message TOPIC ID         lane TOPIC LANE, of due       held TOPIC LANE           group TOPIC GROUP

local function is_claimed(t, lane) return ask(0, 'HEXISTS', t .. ':claim', lane) == 1 end
local function is_scored(t, set, lane) return ask(false, 'ZSCORE', t .. ':' .. set, lane) ~= false end

-- Whether a take, the end of a claim, or who handles the owner's messages next, will look at it.
local function is_awaited(t, lane)
  return is_scored(t, 'due', lane) or is_scored(t, 'ready', lane) or is_scored(t, 'unhandled', lane) or is_claimed(t, lane)
end

function look.message(slot, topic, id)
  local t = topic_key(slot, topic)
  if ask(0, 'HEXISTS', t .. ':msg', id) == 0 then return nil end
  if is_grouped(id) then
    if ask(true, 'ZSCORE', lane_key(t, lane_of(id)), id) == false then return 'message_without_due', 'group' end
  elseif not is_awaited(t, id) or not (is_scored(t, 'due', id) or is_scored(t, 'ready', id) or is_scored(t, 'behind', id)) then
    return 'message_without_due', ''
  end
end

function look.group(slot, topic, group)
  local t, lane = topic_key(slot, topic), group .. ':'
  if ask(0, 'ZCARD', lane_key(t, lane)) > 0 and not is_awaited(t, lane) then return 'group_without_due', '' end
end

function look.held(slot, topic, lane)
  local t = topic_key(slot, topic)
  if ask(0, 'HEXISTS', t .. ':held', lane) == 0 then return nil end
  if not is_claimed(t, lane) then return 'held_without_claim', '' end
  if not is_scored(t, 'lease', lane) then return 'held_without_lease', ask('', 'HGET', t .. ':claim', lane) or '' end
end

function look.lane(slot, topic, lane)
  local t = topic_key(slot, topic)
  local due = ask(false, 'ZSCORE', t .. ':due', lane)
  if not due then return nil end
  local waits
  if is_grouped(lane) then
    waits = ask(1, 'ZCARD', lane_key(t, lane)) > 0
  else
    waits = ask(1, 'HEXISTS', t .. ':msg', lane) == 1
  end
  if not waits then return 'lane_without_message', due end
end
