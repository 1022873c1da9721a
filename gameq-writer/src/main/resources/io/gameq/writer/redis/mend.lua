-- Mends one thing in a slot, if it is still wrong in the same way: what comes about without a hand in Redis. Deletes no row. Runs at
-- maxmemory.
-- KEYS[1] '{ns:slot}', prefix of all keys of the slot
-- ARGV[1] place; ARGV[2] name; ARGV[3] more, as ailments.lua has them; ARGV[4] kind and ARGV[5] state, as doctor.lua found them
-- Returns {1}; {0, kind by now or ''} when it is not so any more, or is not mended here: then nothing is changed.
local slot, place, name, more, kind, state = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
write_even_when_full(slot)
local kind_now, state_now = ailment(slot, place, name, more)
if kind_now ~= kind or state_now ~= state then return {0, kind_now or ''} end

if kind == 'unowned' then
  redis.call('ZADD', slot .. ':due', 'LT', now_millis(), member(name, more))
elseif kind == 'due_far_off' then
  redis.call('ZADD', slot .. ':due', 'LT', now_millis(), name)
elseif kind == 'healing_leftover' then
  redis.call('SREM', slot .. ':healing', name)
else
  return {0, kind}
end
return {1}
