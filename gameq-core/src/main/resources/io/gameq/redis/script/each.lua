-- Put behind a script that is the body of function 'script': runs it once for each of several calls, which answer or fail by themselves.
-- One call costs less than many: Redis defines all functions anew for each. KEYS: those of all calls.
-- ARGV: for each call, the number of its keys and of its arguments, then its arguments.
-- Returns one MessagePack value: Redis before 7.0 writes each array of an answer to the socket by itself. It is an array with {1, what the
-- script returned} or {0, the text of its error} for each call.
local answers, key, at = {}, 0, 1
while at <= #ARGV do
  local keys, args = {}, {}
  for i = 1, tonumber(ARGV[at]) do keys[i] = KEYS[key + i] end
  for i = 1, tonumber(ARGV[at + 1]) do args[i] = ARGV[at + 1 + i] end
  key, at = key + #keys, at + 2 + #args
  local ok, answer = pcall(script, keys, args)
  local error = type(answer) == 'table' and answer.err or not ok and tostring(answer) -- what was thrown: text before Redis 7.0
  answers[#answers + 1] = error and {0, error} or {1, answer}
end
return cmsgpack.pack(answers)
