-- Rows that were sent, as the inboxes hold them. Changes nothing, and is refused on a replica. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of: dirty:<inbox>:<session> HASH, claimed:<inbox> HASH
-- ARGV for each row, up to 200: inbox; field
-- Returns for each the row, or '' when it does not wait any more
local slot, rows = KEYS[1], {}
refuse_on_a_replica(slot)
for i = 1, #ARGV, 2 do
  local dirty = redis.call('HGET', dirty_key(slot, ARGV[i], inbox_session(ARGV[i])), ARGV[i + 1])
  rows[#rows + 1] = dirty or redis.call('HGET', claimed_key(slot, ARGV[i]), ARGV[i + 1]) or ''
end
return rows
