-- Times are milliseconds since 1970, money is nano-USD, ids are text, lists are JSON text.

create table agents (
    id text primary key not null,
    name text,
    active integer not null default 1,
    deactivated_by text,
    deactivated_at bigint,
    incident_id text,
    epoch bigint not null default 0,
    window_floor bigint not null default 0,
    enabled integer not null,
    window_size integer not null,
    threshold double precision not null,
    action text not null,
    counting text not null,
    created_at bigint not null,
    last_seen bigint
);

-- Which agents are restored first; see Store::saved_agents.
create index agents_last_seen on agents (last_seen);

-- Every index here is paid for with every call: there is one for each question that must be quick, and no more.
create table events (
    id text primary key not null,
    agent_id text not null,
    epoch bigint not null,
    number bigint,
    event_type text not null,
    timestamp bigint not null,
    conversation text,
    provider text,
    model text,
    status_code integer,
    latency_ms bigint,
    first_byte_ms bigint,
    tokens_in bigint,
    tokens_out bigint,
    tokens_cached bigint,
    tokens_cache_write bigint,
    tokens_reasoning bigint,
    cost_nano_usd bigint,
    streamed integer not null,
    score double precision,
    similar_prompts integer,
    similar_responses integer,
    repeated_tool_calls integer,
    score_window text,
    would_have_stopped integer not null,
    prompt_hash bigint,
    fingerprint blob,
    error text,
    blocked integer not null,
    block_reason text,
    incident_id text,
    count bigint not null default 1,
    -- The minute of a row that counts refusals of an inactive agent; null for all others.
    minute bigint
) without rowid;

create index events_by_agent on events (agent_id, id);
create index events_in_window on events (agent_id, epoch, number) where fingerprint is not null;
create index events_would_have_stopped on events (agent_id, epoch) where would_have_stopped = 1;
create unique index events_refused on events (agent_id, epoch, minute) where minute is not null;

create table incidents (
    id text primary key not null,
    agent_id text not null,
    epoch bigint not null,
    timestamp bigint not null,
    state text not null,
    provider text not null,
    model text,
    conversation text,
    score double precision not null,
    similar_prompts integer not null,
    similar_responses integer not null,
    repeated_tool_calls integer not null,
    score_window text not null,
    enabled integer not null,
    window_size integer not null,
    threshold double precision not null,
    action text not null,
    counting text not null,
    closed_at bigint,
    feedback text,
    evidence_count bigint not null
);

-- One kill ends one epoch: however many calls are in flight, there is one incident.
create unique index incidents_kill on incidents (agent_id, epoch) where state <> 'observed';
create index incidents_by_agent on incidents (agent_id, id);

create table evidence (
    incident_id text not null references incidents (id) on delete cascade,
    position integer not null,
    call_id text not null,
    timestamp bigint,
    matched text not null,
    prompt text,
    response text,
    request_body blob,
    response_body blob,
    request_chars bigint not null,
    response_chars bigint not null,
    truncated integer not null,
    primary key (incident_id, position)
);

create table providers (
    name text primary key not null,
    base_url text not null,
    format text not null,
    key_ciphertext text,
    key_id text
);
