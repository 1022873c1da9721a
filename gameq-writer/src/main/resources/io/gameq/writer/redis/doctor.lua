-- What is wrong with some things in a slot, each in one look. Changes nothing, and is refused on a replica. Runs at maxmemory.
-- KEYS[1] '{ns:slot}', prefix of all keys of the slot
-- ARGV: place, name, more of each thing, as ailments.lua has them; at most 100 things
-- Returns for each thing {kind, state}, or {} when it is as it should be.
local slot = KEYS[1]
refuse_on_a_replica(slot)
local found = {}
for i = 1, #ARGV, 3 do
  local kind, state = ailment(slot, ARGV[i], ARGV[i + 1], ARGV[i + 2])
  found[#found + 1] = kind and {kind, state} or {}
end
return found
