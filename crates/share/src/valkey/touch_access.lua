-- KEYS: access.
local version = tonumber(redis.call('GET', KEYS[1]) or '0')
redis.call('SET', KEYS[1], str(math.max(version + 1, now_ms())))
return 1
