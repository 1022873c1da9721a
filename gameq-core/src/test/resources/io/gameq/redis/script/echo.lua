-- For LuaScriptTest alone. Returns {KEYS[1], ARGV[1]}, or an error where ARGV[1] is 'fail'.
if ARGV[1] == 'fail' then return redis.error_reply('ERR told to') end
return {KEYS[1], ARGV[1]}
