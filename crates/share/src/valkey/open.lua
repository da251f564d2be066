-- KEYS: agent, log, changes. ARGV: epoch, killed, at, newest number, name of the agent, channel, then number and record of each call.
local known = redis.call('HMGET', KEYS[1], 'epoch', 'seq')
if known[1] and tonumber(known[1]) >= tonumber(ARGV[1]) then return 0 end
local now = now_ms()
-- Positions begin with the time, so that those of a log that was lost are never given out again.
local floor = known[2] or str(now * 1024)
redis.call('DEL', KEYS[2])
redis.call('HDEL', KEYS[1], 'killed', 'killed_at', 'trimmed')
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'seq', floor, 'floor', floor, 'number', ARGV[4])
redis.call('HSETNX', KEYS[1], 'settings', '0')
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'killed', ARGV[2], 'killed_at', ARGV[3]) end
for i = 7, #ARGV, 2 do write(KEYS[1], KEYS[2], now, ARGV[i + 1], ARGV[i]) end
redis.call('EXPIRE', KEYS[1], 604800)
redis.call('ZADD', KEYS[3], str(now), ARGV[5])
redis.call('PUBLISH', ARGV[6], '')
return 1
