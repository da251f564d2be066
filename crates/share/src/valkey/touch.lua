-- KEYS: agent, changes. ARGV: name of the agent, channel.
local settings = redis.call('HGET', KEYS[1], 'settings')
if not settings then return 0 end
local now = now_ms()
redis.call('HSET', KEYS[1], 'settings', str(math.max(tonumber(settings) + 1, now)))
redis.call('ZADD', KEYS[2], str(now), ARGV[1])
redis.call('PUBLISH', ARGV[2], '')
return 1
