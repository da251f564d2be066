-- Numbers are written in full: Lua would write large ones with an exponent.
local function str(number) return string.format('%.0f', number) end

local function now_ms()
    local time = redis.call('TIME')
    return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Adds a record to the log of an agent. A number of '0' is the next one, '' is none.
local function write(agent, log, now, record, number)
    local known = redis.call('HMGET', agent, 'seq', 'number', 'floor')
    local seq, newest, floor = tonumber(known[1]) + 1, tonumber(known[2]), tonumber(known[3])
    local own = 0
    if number == '0' then
        own = newest == 0 and now or newest + 1
    elseif number ~= '' then
        own = tonumber(number)
    end
    redis.call('XADD', log, str(seq) .. '-1', 'n', str(own), 't', str(now), 'r', record)
    redis.call('HSET', agent, 'seq', str(seq), 'number', str(math.max(newest, own)))
    if seq - floor > 1088 then
        redis.call('XTRIM', log, 'MAXLEN', 1024)
        redis.call('HSET', agent, 'floor', str(seq - 1024), 'trimmed', '1')
    end
    redis.call('EXPIRE', agent, 604800)
    redis.call('EXPIRE', log, 604800)
end
