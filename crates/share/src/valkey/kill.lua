-- KEYS: agent, changes. ARGV: epoch, killed, at, name of the agent, channel.
local known = redis.call('HMGET', KEYS[1], 'epoch', 'killed', 'killed_at')
if not known[1] then return {'unknown'} end
if known[1] ~= ARGV[1] then return {'epoch', known[1]} end
if known[2] then return {'lost', known[2], known[3]} end
redis.call('HSET', KEYS[1], 'killed', ARGV[2], 'killed_at', ARGV[3])
redis.call('ZADD', KEYS[2], str(now_ms()), ARGV[4])
redis.call('PUBLISH', ARGV[5], '')
return {'won'}
