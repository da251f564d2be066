-- Times are milliseconds since 1970, money is nano-USD, ids are text, lists are JSON text, flags are 0 or 1: the statements
-- of the store are the same for both databases. Text sorts by its bytes, as ids and names do in memory.

create table agents (
    id text collate "C" primary key,
    name text collate "C",
    active bigint not null default 1,
    deactivated_by text collate "C",
    deactivated_at bigint,
    incident_id text collate "C",
    epoch bigint not null default 0,
    window_floor bigint not null default 0,
    enabled bigint not null,
    window_size bigint not null,
    threshold double precision not null,
    action text collate "C" not null,
    counting text collate "C" not null,
    created_at bigint not null,
    last_seen bigint
) with (fillfactor = 70);

-- Which agents are restored first; see Store::saved_agents.
create index agents_last_seen on agents (last_seen);

-- An id is a UUIDv7, which begins with the time: each partition holds a day, and retention drops it as a whole.
create table events (
    id text collate "C" primary key,
    agent_id text collate "C" not null,
    epoch bigint not null,
    number bigint,
    event_type text collate "C" not null,
    timestamp bigint not null,
    conversation text collate "C",
    provider text collate "C",
    model text collate "C",
    status_code bigint,
    latency_ms bigint,
    first_byte_ms bigint,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_cache_write bigint,
    tokens_reasoning bigint,
    cost_nano_usd bigint,
    streamed bigint not null,
    score double precision,
    similar_prompts bigint,
    similar_responses bigint,
    repeated_tool_calls bigint,
    score_window text collate "C",
    would_have_stopped bigint not null,
    prompt_hash bigint,
    fingerprint bytea,
    error text collate "C",
    blocked bigint not null,
    block_reason text collate "C",
    incident_id text collate "C",
    count bigint not null default 1,
    -- The minute of a row that counts refusals of an inactive agent; null for all others.
    minute bigint,
    cost_estimated bigint not null default 0,
    model_asked text collate "C"
) partition by range (id);

create index events_by_agent on events (agent_id, id);
create index events_in_window on events (agent_id, epoch, number) where fingerprint is not null;
create index events_would_have_stopped on events (agent_id, epoch) where would_have_stopped = 1;
create index events_refused on events (agent_id, epoch, minute) where minute is not null;
create index events_with_error on events (id) where error is not null;

-- The smallest id of a day, counted from 1970.
create function first_event_id(day bigint) returns text language sql immutable as $$
    select substr(digits, 1, 8) || '-' || substr(digits, 9, 4) || '-0000-0000-000000000000'
    from (select lpad(to_hex(day * 86400000), 12, '0') as digits) as time
$$;

create function event_day_table(day bigint) returns text language sql immutable as $$
    select 'events_' || to_char(timestamp '1970-01-01' + day * interval '1 day', 'YYYYMMDD')
$$;

-- Adds the days that are missing. Attaching a table lets others read meanwhile, creating one as a partition would not.
create function add_event_days(days bigint[]) returns void language plpgsql as $$
declare
    day bigint;
begin
    foreach day in array days loop
        continue when to_regclass(event_day_table(day)) is not null;
        perform pg_advisory_xact_lock(hashtext('agentgazer.add_event_days'));
        continue when to_regclass(event_day_table(day)) is not null;
        execute format('create table %I (like events including defaults including constraints including indexes)',
            event_day_table(day));
        execute format('alter table events attach partition %I for values from (%L) to (%L)',
            event_day_table(day), first_event_id(day), first_event_id(day + 1));
    end loop;
end
$$;

-- The tables of the days, the oldest first.
create view event_days as
    select pg_class.relname as name, row_number() over (order by pg_class.relname) as place
    from pg_inherits join pg_class on pg_class.oid = pg_inherits.inhrelid
    where pg_inherits.inhparent = 'events'::regclass;

-- Drops the days before one, and returns how many there were. Waits a moment at most for those who read.
create function drop_event_days(before bigint) returns bigint language plpgsql as $$
declare
    old record;
    dropped bigint := 0;
begin
    perform set_config('lock_timeout', '2s', true);
    for old in select name from event_days where name < event_day_table(before) order by name loop
        execute format('drop table %I', old.name);
        dropped := dropped + 1;
    end loop;
    perform set_config('lock_timeout', '0', true);
    return dropped;
end
$$;

-- Drops the oldest day unless it is the only one, and returns the number of its events, at least 1.
create function drop_oldest_event_day() returns bigint language plpgsql as $$
declare
    oldest text;
    events bigint := 0;
begin
    select name into oldest from event_days where place = 1 and (select count(*) from event_days) > 1;
    if oldest is not null then
        perform set_config('lock_timeout', '2s', true);
        execute format('select count(*) from %I', oldest) into events;
        execute format('drop table %I', oldest);
        perform set_config('lock_timeout', '0', true);
        return greatest(events, 1);
    end if;
    return 0;
end
$$;

create table incidents (
    id text collate "C" primary key,
    agent_id text collate "C" not null,
    epoch bigint not null,
    timestamp bigint not null,
    state text collate "C" not null,
    provider text collate "C" not null,
    model text collate "C",
    conversation text collate "C",
    score double precision not null,
    similar_prompts bigint not null,
    similar_responses bigint not null,
    repeated_tool_calls bigint not null,
    score_window text collate "C" not null,
    enabled bigint not null,
    window_size bigint not null,
    threshold double precision not null,
    action text collate "C" not null,
    counting text collate "C" not null,
    closed_at bigint,
    feedback text collate "C",
    evidence_count bigint not null,
    stuck_since bigint,
    stuck_calls bigint not null default 0,
    cycle_period bigint,
    cycle_laps bigint,
    loop_cost_nano_usd bigint,
    -- The window that fired as store::encode_fingerprint writes it, each with its length before it.
    fingerprints bytea,
    -- Requests that were refused between the kill and the activation, and from where the agent was activated.
    refused bigint not null default 0,
    closed_by text collate "C"
);

-- One kill ends one epoch: however many calls are in flight, there is one incident.
create unique index incidents_kill on incidents (agent_id, epoch) where state <> 'observed';
create index incidents_by_agent on incidents (agent_id, id);

create table evidence (
    incident_id text collate "C" not null references incidents (id) on delete cascade,
    position bigint not null,
    call_id text collate "C" not null,
    timestamp bigint,
    matched text collate "C" not null,
    prompt text collate "C",
    response text collate "C",
    request_body bytea,
    response_body bytea,
    request_chars bigint not null,
    response_chars bigint not null,
    truncated bigint not null,
    alike text collate "C" not null default '[]',
    tool_calls text collate "C",
    tool_results text collate "C",
    missing text collate "C",
    primary key (incident_id, position)
);

-- Bodies are compressed already.
alter table evidence alter column request_body set storage external;
alter table evidence alter column response_body set storage external;

create table providers (
    name text collate "C" primary key,
    base_url text collate "C" not null,
    format text collate "C" not null,
    key_ciphertext text collate "C",
    key_id text collate "C"
);

-- Where a channel leads is encrypted: addresses and tokens of chats let anyone post who knows them.
create table channels (
    id text collate "C" primary key,
    kind text collate "C" not null,
    name text collate "C" not null,
    enabled bigint not null,
    disabled_reason text collate "C",
    settings_ciphertext text collate "C" not null,
    key_id text collate "C" not null,
    created_at bigint not null,
    -- When the first of the alerts that may become one digest was queued.
    window_opened_at bigint
);

create unique index channels_by_name on channels (name);

create table alert_rules (
    id text collate "C" primary key,
    agent_id text collate "C" not null,
    rule_type text collate "C" not null,
    -- The rule's own fields, as JSON.
    condition text collate "C" not null,
    -- Ids of channels, as JSON; none means every channel.
    channels text collate "C" not null,
    cooldown_minutes bigint not null,
    repeat_minutes bigint,
    notify_recovery bigint not null,
    enabled bigint not null,
    created_at bigint not null
);

-- What a rule last said of an agent, so that a restart neither repeats nor forgets.
create table alert_states (
    rule_id text collate "C" not null,
    agent_id text collate "C" not null,
    firing bigint not null,
    since bigint not null,
    told_at bigint not null,
    incident_id text collate "C",
    repeats bigint not null default 0,
    primary key (rule_id, agent_id)
);

-- The outbox and the history: one row for each alert to each channel.
create table deliveries (
    id text collate "C" primary key,
    channel_id text collate "C" not null,
    channel_name text collate "C" not null,
    channel_kind text collate "C" not null,
    rule_id text collate "C",
    alert_type text collate "C" not null,
    agent_id text collate "C",
    incident_id text collate "C",
    repeat bigint not null,
    data text collate "C" not null,
    state text collate "C" not null,
    queued_at bigint not null,
    due_at bigint not null,
    -- Attempts since it was queued, by its cause or by a person.
    tries bigint not null default 0,
    finished_at bigint,
    -- Why it was given up.
    reason text collate "C",
    -- The window it was queued in, and whether it waits there for others.
    window_opened_at bigint,
    waits bigint not null default 0,
    digest_id text collate "C"
);

create index deliveries_queued on deliveries (channel_id, due_at) where state = 'queued';
create index deliveries_in_window on deliveries (channel_id, window_opened_at) where window_opened_at is not null;
create index deliveries_by_agent on deliveries (agent_id, id) where agent_id is not null;
-- One cause is told once to each channel, however many rules name it.
create unique index deliveries_of_incident on deliveries (incident_id, channel_id, alert_type, repeat)
    where incident_id is not null;

create table delivery_attempts (
    delivery_id text collate "C" not null references deliveries (id) on delete cascade,
    position bigint not null,
    timestamp bigint not null,
    took_ms bigint not null,
    delivered bigint not null,
    status_code bigint,
    answer text collate "C" not null,
    primary key (delivery_id, position)
);

-- How many calls each agent made in each minute, and how many of them failed: a day of it, for rules on error rates.
create table agent_minutes (
    minute bigint not null,
    agent_id text collate "C" not null,
    calls bigint not null,
    errors bigint not null,
    primary key (minute, agent_id)
) with (fillfactor = 70);

-- What happened in an hour (span 0) or a day (span 1) that began at `start`, by agent, provider and model. The rows with an
-- empty agent_id are the sums over all agents. Each writer has its own rows, because SQL cannot add histograms.
create table rollups (
    span bigint not null,
    start bigint not null,
    agent_id text collate "C" not null,
    provider text collate "C" not null,
    model text collate "C" not null,
    requests bigint not null,
    errors bigint not null,
    blocked bigint not null,
    tokens_in bigint not null,
    tokens_out bigint not null,
    tokens_cached bigint not null,
    tokens_cache_write bigint not null,
    tokens_reasoning bigint not null,
    cost_nano_usd bigint not null,
    unpriced bigint not null,
    unpriced_in bigint not null,
    unpriced_out bigint not null,
    estimated bigint not null,
    -- A histogram, see store::LatencyHistogram.
    latency bytea not null,
    writer text collate "C" not null default '',
    primary key (span, start, agent_id, provider, model, writer)
) with (fillfactor = 70);

create table conversations (
    agent_id text collate "C" not null,
    conversation text collate "C" not null,
    first_hour bigint not null,
    -- To the hour, so that the index below changes rarely.
    last_hour bigint not null,
    requests bigint not null,
    errors bigint not null,
    blocked bigint not null,
    tokens_in bigint not null,
    tokens_out bigint not null,
    cost_nano_usd bigint not null,
    unpriced bigint not null,
    -- What calls whose price is not known count towards its budget, as that was configured then.
    unpriced_nano_usd bigint not null default 0,
    primary key (agent_id, conversation)
) with (fillfactor = 70);

create index conversations_by_hour on conversations (last_hour, agent_id);

-- What each agent did, all its models together, in the 1, 6, 24 or 168 hours that began at `start`.
create table agent_sums (
    hours bigint not null,
    start bigint not null,
    agent_id text collate "C" not null,
    requests bigint not null,
    errors bigint not null,
    blocked bigint not null,
    tokens_in bigint not null,
    tokens_out bigint not null,
    tokens_cached bigint not null,
    tokens_cache_write bigint not null,
    tokens_reasoning bigint not null,
    cost_nano_usd bigint not null,
    unpriced bigint not null,
    unpriced_in bigint not null,
    unpriced_out bigint not null,
    estimated bigint not null,
    primary key (hours, start, agent_id)
);

-- How far sums over longer times have been made of those over shorter ones.
create table sums_made (
    hours bigint primary key,
    start bigint not null,
    next text collate "C" not null
);

insert into sums_made values (1, 0, ''), (6, 0, ''), (24, 0, ''), (168, 0, '');

-- What people have set for all agents, as JSON.
create table settings (
    name text collate "C" primary key,
    value text collate "C" not null
);

-- What does not count for an agent, until a time.
create table exemptions (
    id text collate "C" primary key,
    agent_id text collate "C" not null,
    kind text collate "C" not null,
    -- Of a prompt, its hash; of tool calls, their signatures.
    prompt_hash bigint,
    literal_signature bigint,
    adaptive_signature bigint,
    -- The beginning of it, for people.
    text text collate "C" not null,
    -- The false alarm that it was made for.
    incident_id text collate "C",
    created_at bigint not null,
    until bigint not null
);

create index exemptions_by_agent on exemptions (agent_id, until);
create index exemptions_until on exemptions (until);

-- The policy of an agent that has one of its own, as JSON.
create table policies (
    agent_id text collate "C" primary key,
    policy text collate "C" not null
);

-- How many calls of an agent were forwarded without a score, by hour and reason.
create table unscored (
    agent_id text collate "C" not null,
    hour bigint not null,
    reason text collate "C" not null,
    calls bigint not null,
    primary key (agent_id, hour, reason)
);

create index unscored_by_hour on unscored (hour);
