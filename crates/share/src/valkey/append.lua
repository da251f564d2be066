-- KEYS: agent, log. ARGV: epoch, then the records.
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return 0 end
local now = now_ms()
for i = 2, #ARGV do write(KEYS[1], KEYS[2], now, ARGV[i], '0') end
return 1
