-- How much of a slot waits to be flushed. Changes nothing; three commands.
-- KEYS[1] '{ns:slot}' prefix
-- Returns {owners that are due now or later, owners that are ready, owners that are claimed or remembered after a claim}.
local slot = KEYS[1]
return {redis.call('ZCARD', slot .. ':due'), redis.call('LLEN', slot .. ':ready'), redis.call('HLEN', slot .. ':claim')}
