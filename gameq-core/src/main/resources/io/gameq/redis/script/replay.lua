-- Puts lost rows of owners back, of all of them or of none: tells Redis again which session owns each (the caller has read in MySQL
-- that it does) and writes the rows under it, never over a newer one, so that it may run any number of times. Leaves no journal mark:
-- those of a node that lives must not move, and nobody would remove others.
-- KEYS[i] '{ns:slot}' of owner i, prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, claimed:<owner> HASH, due ZSET,
--   closing SET, inboxes:<owner> HASH, sent:<process> HASH
-- ARGV[1] how long the own key of an ended session is kept, ms; then for each owner: owner, or inbox; session; 1 to end the session as its
--   node is gone, else 0; number of rows n; n times field, row
-- Returns {1, number of rows written}; {0, index from 0 of the first owner that a newer session owns, that session}: nothing was
--   written then; or the error WRONGTYPE, naming the key, when somebody else wrote into an owner's keys: nor was it then.
local owners, at = {}, 2
for i = 1, #KEYS do
  local owner, session = ARGV[at], ARGV[at + 1]
  local owned_by = own(KEYS[i], owner)
  if owned_by and owned_by > session then return {0, i - 1, owned_by} end
  for _, key in ipairs({dirty_key(KEYS[i], owner, session), claimed_key(KEYS[i], owner)}) do
    local wrong = wrong_type(key)
    if wrong then return redis.error_reply(wrong) end
  end
  local ends, rows = ARGV[at + 2] == '1', tonumber(ARGV[at + 3])
  owners[i] = {slot = KEYS[i], owner = owner, session = session, owned_by = owned_by, ends = ends, first = at + 4, rows = rows}
  at = at + 4 + 2 * owners[i].rows
end
local written = 0
for _, of in ipairs(owners) do
  local dirty, claimed = dirty_key(of.slot, of.owner, of.session), claimed_key(of.slot, of.owner)
  local came = {}
  if of.owned_by ~= of.session then redis.call('SET', own_key(of.slot, of.owner), of.session) end
  for i = of.first, of.first + 2 * of.rows - 1, 2 do
    local field, row = ARGV[i], ARGV[i + 1]
    if is_newer(row, redis.call('HGET', dirty, field)) and is_newer(row, redis.call('HGET', claimed, field)) then
      redis.call('HSET', dirty, field, row)
      came[#came + 1] = i
    end
  end
  written = written + #came
  if #came > 0 and owner_of_inbox(of.owner) then
    came_into(of.slot, of.owner, of.session, true, function(i) return ARGV[came[i]], ARGV[came[i] + 1] end, #came)
  end
  local waits = redis.call('EXISTS', dirty, claimed) > 0
  if redis.call('EXISTS', dirty) == 1 then redis.call('ZADD', of.slot .. ':due', 'LT', now_millis(), member(of.owner, of.session)) end
  if of.ends and waits then redis.call('SADD', of.slot .. ':closing', of.owner) end
  if of.ends and not waits then redis.call('PEXPIRE', own_key(of.slot, of.owner), ARGV[1]) end
end
return {1, written}
