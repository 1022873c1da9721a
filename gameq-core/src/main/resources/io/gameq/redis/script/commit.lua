-- One commit as a script: a spanning commit, or a commit sent again after its reply was lost. Checks every session before it
-- writes anything; compares versions row by row, so that it may run any number of times, late or early.
-- KEYS[i] '{ns:slot}' of part i, prefix of: own:<owner> STRING, dirty:<owner>:<session> HASH, due ZSET, journal HASH
-- ARGV[1] WAL id; ARGV[2] WAL sequence; then for each part: owner; session; when due, ms of Redis TIME; number of rows n;
--   n times field, row
-- Returns {1} when applied; {0, index from 0 of the first part that may not write, the session that owns it or ''}: nothing was written;
--   or the error WRONGTYPE, naming the key, when somebody else wrote into an owner's keys: nor was it then.
local wal, sequence = ARGV[1], ARGV[2]
local parts, at = {}, 3
for i = 1, #KEYS do
  local owner, session = ARGV[at], ARGV[at + 1]
  local owned_by = redis.call('GET', own_key(KEYS[i], owner))
  if owned_by ~= session then return {0, i - 1, owned_by or ''} end
  local dirty = dirty_key(KEYS[i], owner, session)
  local wrong = wrong_type(dirty)
  if wrong then return redis.error_reply(wrong) end
  local rows = tonumber(ARGV[at + 3])
  parts[i] = {slot = KEYS[i], owner = owner, session = session, dirty = dirty, due = ARGV[at + 2], first = at + 4, rows = rows}
  at = at + 4 + 2 * parts[i].rows
end
for _, part in ipairs(parts) do
  for i = part.first, part.first + 2 * part.rows - 1, 2 do
    if is_newer(ARGV[i + 1], redis.call('HGET', part.dirty, ARGV[i])) then redis.call('HSET', part.dirty, ARGV[i], ARGV[i + 1]) end
  end
  redis.call('ZADD', part.slot .. ':due', 'LT', part.due, member(part.owner, part.session))
  local mark = redis.call('HGET', part.slot .. ':journal', wal)
  if not mark or tonumber(mark) < tonumber(sequence) then redis.call('HSET', part.slot .. ':journal', wal, sequence) end
end
return {1}
