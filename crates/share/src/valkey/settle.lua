-- KEYS: agent, log, tickets, due, a key for each charge. ARGV: epoch, call, record, member of due, then what each charge took.
local known = redis.call('HMGET', KEYS[1], 'epoch', 'killed', 'killed_at')
local ticket = redis.call('HGET', KEYS[3], ARGV[2])
if ticket and string.sub(ticket, 1, #ARGV[1] + 1) == ARGV[1] .. '\n' then
    redis.call('HDEL', KEYS[3], ARGV[2])
    redis.call('ZREM', KEYS[4], ARGV[4])
    local lines = {}
    for line in string.gmatch(ticket, '[^\n]+') do lines[#lines + 1] = line end
    for i = 1, math.min(#lines - 3, #KEYS - 4) do
        local key, actual = KEYS[4 + i], tonumber(ARGV[4 + i] or 0)
        local kind, amount = string.match(lines[3 + i], '^(%d) (%d+)')
        if kind == '0' then
            local counted = redis.call('HGET', key, lines[3])
            if counted then
                redis.call('HSET', key, lines[3], str(math.max(tonumber(counted) + actual - tonumber(amount), 0)))
            end
        elseif redis.call('EXISTS', key) == 1 then
            local reserved = tonumber(redis.call('HGET', key, 'r') or 0)
            redis.call('HSET', key, 'r', str(math.max(reserved - tonumber(amount), 0)))
            redis.call('HINCRBY', key, 's', str(actual))
        end
    end
    if known[1] == ARGV[1] and ARGV[3] ~= '' then write(KEYS[1], KEYS[2], now_ms(), ARGV[3], '') end
end
if known[1] == ARGV[1] and known[2] then return {known[2], known[3]} end
return {}
