-- A node process takes the name of its node, or keeps it. Runs at maxmemory, as its first write is a DEL.
-- KEYS[1] 'ns:name:<node>' STRING: '<process> <host>' that has the name
-- ARGV[1] the same of this one; ARGV[2] how long it has the name, s; ARGV[3] who is known to be gone and may have it
-- Returns {who else has the name; empty when this one has it now}.
local named = redis.call('GET', KEYS[1])
if named and named ~= ARGV[1] and named ~= ARGV[3] then return {named} end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return {''}
