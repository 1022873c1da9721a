-- For LuaScriptTest alone. Returns {KEYS[1], ARGV[1]}; an error where ARGV[1] is 'fail', values of all kinds where it is 'kinds'.
if ARGV[1] == 'kinds' then return {7, -7, 1.9, -1.9, 1795893095080, 'text', true, false, {}, {{1}, ''}} end
if ARGV[1] == 'fail' then return redis.error_reply('ERR told to') end
return {KEYS[1], ARGV[1]}
