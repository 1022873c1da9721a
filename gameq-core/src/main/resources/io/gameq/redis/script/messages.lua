-- Many commits of one WAL that change messages and no rows, each applied as a whole or refused. Goes on at maxmemory: then commits that
-- publish are refused, the others are not.
-- KEYS[i] '{ns:slot}', prefix of: journal HASH, t:<topic>:* as package io.gameq.redis.topic draws them
-- ARGV[1] WAL id, '' of a replay, which moves no marks; ARGV[2] mode, see batches.lua; ARGV[3] 1 if anything is published, else 0; ARGV[4]
--   and ARGV[5] first and last sequence of the call; ARGV[6] the oldest sequence that waits for an answer; unless the WAL id is '', for
--   each KEYS[i] its marks: see journal.lua; then batches of commits that are one change each, or publishes of one batch alone, and
--   commits by themselves, which begin with c: see batches.lua
-- Returns {1, the marks before it of each KEYS[i], and for each refusal: number of the batch or commit, from 0; number of the item in the
--   batch, or -1 for all of it; claim, changed, full or type; message, or error: nothing of it is written}; {0, number of the first of
--   KEYS whose mark does not fit}, and nothing is written.
local wal, mode = ARGV[1], ARGV[2]
local marks, at = {}, 7
if wal ~= '' then
  marks, at = read_marks(wal, 7)
  if not marks then return {0, at} end
end
local is_full = false
if ARGV[3] == '0' then
  write_even_when_full(KEYS[1])
else
  local answer = redis.pcall('SET', KEYS[1] .. ':none', '')
  is_full = type(answer) == 'table' and answer.err ~= nil
  if is_full and not string.find(answer.err, 'OOM ', 1, true) then return redis.error_reply((string.gsub(answer.err, '^-', ''))) end
  write_even_when_full(KEYS[1])
end

local unit, refusals, refused, taken = 0, {}, {}, {}

local function refuse(item, why)
  for _, word in ipairs({unit, item, why[1], why[2]}) do refusals[#refusals + 1] = word end
end

-- Publishes do not tell their sequences: Redis is full for all of the call, or the topic is broken.
local function note_refused(b, item)
  refused[#refused + 1] = b.kind == 'p' and ARGV[4] .. '-' .. ARGV[5] or ARGV[b.first + (item - 1) * WORDS[b.kind]]
end

local function one_by_one(b)
  local why = refusal(b, is_full, mode)
  if why then
    refuse(-1, why)
    for i = 1, b.kind == 'p' and 1 or b.n do note_refused(b, i) end
  elseif b.kind == 'a' then
    local ids, lanes = read_ids(b, 1)
    local stands = standing(b, ids, lanes)
    acknowledge(b, ids, lanes, stands)
    for i = 1, b.n do
      if not stands[i] then
        refuse(i - 1, {'claim', b.topic .. '/' .. ids[i]})
        note_refused(b, i)
      end
    end
  else
    apply(b, mode)
  end
end

local function as_a_whole(c)
  local why = refusal_of_commit(c, is_full, mode)
  if why then
    refuse(-1, why)
    refused[#refused + 1] = c.sequence
  else
    for _, b in ipairs(c.batches) do apply(b, mode) end
    taken[#taken + 1] = c.sequence
  end
end

while at <= #ARGV do
  local thing
  if ARGV[at] == 'c' then
    thing, at = read_commit(at)
    as_a_whole(thing)
  else
    thing, at = read_batch(at)
    one_by_one(thing)
  end
  unit = unit + 1
end
if wal ~= '' then
  move_marks(wal, 7)
  remember_refused(wal, ARGV[6], refused, mode == AGAIN and taken or {})
end
return {1, marks, refusals}
