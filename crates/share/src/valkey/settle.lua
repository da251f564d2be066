-- KEYS: agent, log, tickets, due, a key for each charge.
-- ARGV: epoch, call, record, member of due, replica, life, whether to count without a ticket, then what each charge took,
-- its kind and what is known to be spent.
local known = redis.call('HMGET', KEYS[1], 'epoch', 'killed', 'killed_at')
local ticket, now = redis.call('HGET', KEYS[3], ARGV[2]), now_ms()
local counts = ARGV[7] == '1' and #KEYS > 4
if ticket and string.sub(ticket, 1, #ARGV[1] + 1) == ARGV[1] .. '\n' then
    local lines = {}
    for line in string.gmatch(ticket, '[^\n]+') do lines[#lines + 1] = line end
    -- Second 0 says that the call was settled without a ticket.
    local is_settled = lines[3] == '0'
    if not (is_settled and counts) then
        redis.call('HDEL', KEYS[3], ARGV[2])
        redis.call('ZREM', KEYS[4], ARGV[4])
    end
    for i = 1, math.min(#lines - 3, #KEYS - 4) do
        local key, actual = KEYS[4 + i], tonumber(ARGV[5 + 3 * i] or 0)
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
    if not is_settled and known[1] == ARGV[1] and ARGV[3] ~= '' then write(KEYS[1], KEYS[2], now, ARGV[3], '') end
elseif counts and not ticket then
    for i = 1, #KEYS - 4 do
        local key, actual = KEYS[4 + i], tonumber(ARGV[5 + 3 * i])
        if ARGV[6 + 3 * i] == '0' then
            redis.call('HINCRBY', key, str(math.floor(now / 1000)), str(actual))
            redis.call('EXPIRE', key, 120)
        else
            local spent = math.max(tonumber(redis.call('HGET', key, 's') or 0), tonumber(ARGV[7 + 3 * i]))
            redis.call('HSET', key, 's', str(spent + actual))
            redis.call('EXPIRE', key, 3456000)
        end
    end
    redis.call('HSET', KEYS[3], ARGV[2], ARGV[1] .. '\n' .. ARGV[5] .. '\n0')
    redis.call('EXPIRE', KEYS[3], 604800)
    redis.call('ZADD', KEYS[4], str(now + tonumber(ARGV[6])), ARGV[4])
end
if known[1] == ARGV[1] and known[2] then return {known[2], known[3]} end
return {}
