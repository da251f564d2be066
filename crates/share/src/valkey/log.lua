-- KEYS: agent, log.
local known = redis.call('HMGET', KEYS[1], 'epoch', 'floor', 'trimmed')
if not known[1] then return {} end
return {known[1], known[2], known[3], redis.call('XRANGE', KEYS[2], '-', '+')}
