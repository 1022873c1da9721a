-- Many commits of one WAL that change messages and no rows, each applied as a whole or refused. Goes on at maxmemory: then commits that
-- publish are refused, the others are not.
-- KEYS[i] '{ns:slot}', prefix of: mjournal HASH, t:<topic>:* as package io.gameq.redis.topic draws them
-- ARGV[1] WAL id; ARGV[2] sequence below which nothing is ever sent again: holes below it are forgotten; ARGV[3] mode, see batches.lua;
--   ARGV[4] 1 if anything is published, else 0; when the mode is FIRST, for each KEYS[i]: sequence of the commit with messages that was
--   sent to this slot before this call; oldest and newest sequence for this slot in this call; then batches of commits that are one change
--   each, or publishes of one batch alone, and commits by themselves, which begin with c: see batches.lua
-- Returns {} when all was applied; else for each refusal: number of the batch or commit, from 0; number of the item in the batch, or -1
--   for all of it; claim, changed, full or type; message, or error: nothing of it is written. An error, and nothing is written at all,
--   when something was sent before that is sent as for the first time.
local wal, kept, mode = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local journals, chains, refusals, at = {}, {}, {}, 5
local how = mode -- a call that comes late, after what was sent behind it, comes behind that
for _, slot in ipairs(KEYS) do
  journals[slot] = read_journal(slot, wal, kept)
  if mode == FIRST then
    local first = tonumber(ARGV[at + 1])
    if not lacks(journals[slot], first) then return redis.error_reply('ERR sequence ' .. ARGV[at + 1] .. ' was sent before') end
    if first <= journals[slot].mark then how = AGAIN end
    chains[slot] = {before = tonumber(ARGV[at]), last = tonumber(ARGV[at + 2]), applied = {}, refused = {}, unsure = false}
    at = at + 3
  end
end

local is_full = false
if ARGV[4] == '0' then
  write_even_when_full(KEYS[1])
else
  local answer = redis.pcall('HSET', KEYS[1] .. ':mjournal', wal, whole(journals[KEYS[1]].mark))
  if type(answer) == 'table' and answer.err then
    if not string.find(answer.err, 'OOM ', 1, true) then return redis.error_reply((string.gsub(answer.err, '^-', ''))) end
    is_full = true
    write_even_when_full(KEYS[1])
  end
end

local unit = 0

local function refuse(item, why)
  for _, word in ipairs({unit, item, why[1], why[2]}) do refusals[#refusals + 1] = word end
end

local function one_by_one(b)
  local chain = chains[b.slot]
  local refused = refusal(b, is_full, how)
  if refused then
    refuse(-1, refused)
    if b.kind == 'p' then
      chain.unsure = true
    else
      for i = 1, b.n do table.insert(chain.refused, tonumber(ARGV[b.first + (i - 1) * WORDS[b.kind]])) end
    end
  elseif b.kind == 'a' then
    local ids, lanes = read_ids(b, 1)
    local stands = standing(b, ids, lanes)
    acknowledge(b, ids, lanes, stands)
    for i = 1, b.n do
      local sequence = tonumber(ARGV[b.first + (i - 1) * WORDS.a])
      table.insert(stands[i] and chain.applied or chain.refused, sequence)
      if not stands[i] then refuse(i - 1, {'claim', b.topic .. '/' .. ids[i]}) end
    end
  else
    apply(b, how)
    if b.kind ~= 'p' then
      for i = 1, b.n do table.insert(chain.applied, tonumber(ARGV[b.first + (i - 1) * WORDS[b.kind]])) end
    end
  end
end

local function as_a_whole(c)
  if mode ~= FIRST then leave_what_is_there(c, wal, kept, journals) end
  local refused = refusal_of_commit(c, is_full, mode)
  if refused then refuse(-1, refused) end
  if mode ~= FIRST then
    if refused then
      note_commit(c, wal, journals, false)
    else
      apply_commit(c, wal, mode, journals)
    end
    return
  end
  if not refused then
    for _, b in ipairs(c.batches) do apply(b, how) end
  end
  for _, of in ipairs(c.slots) do table.insert(refused and chains[of.slot].refused or chains[of.slot].applied, c.sequence) end
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

-- Publishes do not tell their sequences: where some were refused, all that is not known to be here is taken for missing.
for slot, chain in pairs(chains) do
  local journal = journals[slot]
  add_hole(journal, journal.mark, chain.before)
  if chain.unsure then
    add_hole(journal, math.max(journal.mark, chain.before), chain.last)
    for _, sequence in ipairs(chain.applied) do fill(journal, sequence - 1, sequence) end
  else
    fill(journal, chain.before, chain.last)
    for _, sequence in ipairs(chain.refused) do add_hole(journal, sequence - 1, sequence) end
  end
  journal.mark = math.max(journal.mark, chain.last)
  write_journal(slot, wal, journal)
end
return refusals
