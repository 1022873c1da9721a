-- Put in front of commit.lua and messages.lua, after slot.lua: how far into a WAL Redis holds a slot.
-- {ns:slot}:journal HASH WAL id -> mark: a sequence and a checksum of it in one number, see class JournalMarks. Each call moves it by what
-- lies between two marks, so that a call that is lost beneath a later one leaves a wrong checksum for good.
-- '<WAL id>!' -> what was refused of calls whose answer may be lost: 'sequence', or 'first-last' for publishes among these; and
-- '+sequence' of what was taken when it was sent again.

-- Marks have up to 19 digits: as numbers of Lua they would lose the last ones.
local function exceeds(mark, other) return #mark > #other or #mark == #other and mark > other end

-- What a call expects of each slot, from ARGV[at] on: least and greatest mark before it, and by how much it moves the mark.
-- Returns the marks that are there, and the place behind; or nil and the number of the first slot whose mark does not fit.
local function read_marks(wal, at)
  local marks = {}
  for i, slot in ipairs(KEYS) do
    local mark = redis.call('HGET', slot .. ':journal', wal) or '0'
    if exceeds(ARGV[at], mark) or exceeds(mark, ARGV[at + 1]) then return nil, i end
    marks[i] = mark
    at = at + 3
  end
  return marks, at
end

local function move_marks(wal, at)
  for i, slot in ipairs(KEYS) do
    if ARGV[at + 3 * i - 1] ~= '0' then redis.call('HINCRBY', slot .. ':journal', wal, ARGV[at + 3 * i - 1]) end
  end
end

-- Remembers what was refused, and what was taken after all when it was sent again, until nothing from 'open' on waits for an answer.
local function remember_refused(wal, open, refused, taken)
  local key, field, all, known = KEYS[1] .. ':journal', wal .. '!', {}, {}
  local before = redis.call('HGET', key, field) or ''
  if #refused == 0 and (#taken == 0 or before == '') then return end
  local function add(entry)
    if known[entry] then return end
    known[entry] = true
    all[#all + 1] = entry
  end
  for entry in string.gmatch(before, '%S+') do
    if tonumber(string.match(entry, '(%d+)$')) >= tonumber(open) then add(entry) end
  end
  for _, sequence in ipairs(refused) do add(sequence) end
  for _, sequence in ipairs(taken) do add('+' .. sequence) end
  redis.call('HSET', key, field, table.concat(all, ' '))
end
