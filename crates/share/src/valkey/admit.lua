-- KEYS: agent, log, tickets, due, access, a key for each charge.
-- ARGV: epoch, seen, call, replica, record, life, member of due, then kind, limit, amount, known, scope of each charge.
local known = redis.call('HMGET', KEYS[1], 'epoch', 'killed', 'killed_at', 'settings')
if not known[1] then return {'unknown'} end
if known[1] ~= ARGV[1] then return {'epoch', known[1]} end
if known[2] then return {'killed', known[2], known[3]} end
local now = now_ms()
local second = math.floor(now / 1000)
local charges = #KEYS - 5
local spent = {}
for i = 1, 2 * charges do spent[i] = '0' end

-- Seconds until the amount stays within the limit; 0: it does so now. Old seconds are removed.
local function wait(key, amount, limit)
    local room, by_second = math.max(limit - amount, 0), {}
    local total, ticks = 0, redis.call('HGETALL', key)
    for i = 1, #ticks, 2 do
        local at = tonumber(ticks[i])
        if at <= second - 60 then
            redis.call('HDEL', key, ticks[i])
        else
            by_second[at] = tonumber(ticks[i + 1])
            total = total + by_second[at]
        end
    end
    for seconds = 0, 59 do
        if total <= room then return seconds end
        total = total - (by_second[second - 59 + seconds] or 0)
    end
    return 60
end

local ticket = redis.call('HGET', KEYS[3], ARGV[3])
if not ticket or string.sub(ticket, 1, #ARGV[1] + 1) ~= ARGV[1] .. '\n' then
    local longest, longest_charge, over = 0, 0, false
    for i = 1, charges do
        local key, at = KEYS[5 + i], 7 + (i - 1) * 5
        local kind, limit, amount = ARGV[at + 1], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
        if kind == '0' then
            local seconds = wait(key, amount, limit)
            if seconds > longest then longest, longest_charge = seconds, i - 1 end
        else
            local tab = redis.call('HMGET', key, 's', 'r')
            local sum, reserved = tonumber(tab[1] or 0), tonumber(tab[2] or 0)
            if tonumber(ARGV[at + 4]) > sum then
                sum = tonumber(ARGV[at + 4])
                redis.call('HSET', key, 's', str(sum))
            end
            spent[2 * i - 1], spent[2 * i] = str(sum), str(reserved)
            over = over or sum + reserved >= limit
        end
    end
    if longest > 0 then return {'rate', str(longest_charge), str(longest)} end
    if over then return {'budget', spent} end
    local lines = {ARGV[1], ARGV[4], str(second)}
    for i = 1, charges do
        local key, at = KEYS[5 + i], 7 + (i - 1) * 5
        if ARGV[at + 1] == '0' then
            redis.call('HINCRBY', key, str(second), ARGV[at + 3])
            redis.call('EXPIRE', key, 120)
        else
            redis.call('HINCRBY', key, 'r', ARGV[at + 3])
            redis.call('EXPIRE', key, 3456000)
        end
        lines[3 + i] = ARGV[at + 1] .. ' ' .. ARGV[at + 3] .. ' ' .. ARGV[at + 5]
    end
    redis.call('HSET', KEYS[3], ARGV[3], table.concat(lines, '\n'))
    redis.call('EXPIRE', KEYS[3], 604800)
    redis.call('ZADD', KEYS[4], str(now + tonumber(ARGV[6])), ARGV[7])
    if ARGV[5] ~= '' then write(KEYS[1], KEYS[2], now, ARGV[5], '0') end
end
local place = redis.call('HMGET', KEYS[1], 'seq', 'floor', 'trimmed')
local seen = tonumber(ARGV[2])
if seen > tonumber(place[1]) then seen = 0 end
local entries = redis.call('XRANGE', KEYS[2], '(' .. str(seen) .. '-1', '+')
return {'granted', known[1], known[4], place[2], place[3], spent, entries, redis.call('GET', KEYS[5])}
