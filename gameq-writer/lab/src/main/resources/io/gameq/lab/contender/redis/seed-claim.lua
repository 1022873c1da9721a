-- Takes one message.
-- KEYS[1] LIST messages; KEYS[2] LIST messages that are being processed
-- ARGV[1] what the key of a message's value begins with
-- Returns the message and its value; nothing when there is none.
local message = redis.call('RPOPLPUSH', KEYS[1], KEYS[2])
if not message then
  return {}
end
return {message, redis.call('GET', ARGV[1] .. message)}
