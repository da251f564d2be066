-- Ways to people. Where a channel leads is encrypted: addresses and tokens of chats let anyone post who knows them.
create table channels (
    id text primary key not null,
    kind text not null,
    name text not null,
    enabled integer not null,
    disabled_reason text,
    settings_ciphertext text not null,
    key_id text not null,
    created_at bigint not null,
    -- When the first of the alerts that may become one digest was queued.
    window_opened_at bigint
);

create unique index channels_by_name on channels (name);

create table alert_rules (
    id text primary key not null,
    agent_id text not null,
    rule_type text not null,
    -- The rule's own fields, as JSON.
    condition text not null,
    -- Ids of channels, as JSON; none means every channel.
    channels text not null,
    cooldown_minutes bigint not null,
    repeat_minutes bigint,
    notify_recovery integer not null,
    enabled integer not null,
    created_at bigint not null
);

-- What a rule last said of an agent, so that a restart neither repeats nor forgets.
create table alert_states (
    rule_id text not null,
    agent_id text not null,
    firing integer not null,
    since bigint not null,
    told_at bigint not null,
    incident_id text,
    repeats bigint not null default 0,
    primary key (rule_id, agent_id)
) without rowid;

-- The outbox and the history: one row for each alert to each channel.
create table deliveries (
    id text primary key not null,
    channel_id text not null,
    channel_name text not null,
    channel_kind text not null,
    rule_id text,
    alert_type text not null,
    agent_id text,
    incident_id text,
    repeat bigint not null,
    data text not null,
    state text not null,
    queued_at bigint not null,
    due_at bigint not null,
    -- Attempts since it was queued, by its cause or by a person.
    tries bigint not null default 0,
    finished_at bigint,
    -- Why it was given up.
    reason text,
    -- The window it was queued in, and whether it waits there for others.
    window_opened_at bigint,
    waits integer not null default 0,
    digest_id text
) without rowid;

create index deliveries_queued on deliveries (channel_id, due_at) where state = 'queued';
create index deliveries_in_window on deliveries (channel_id, window_opened_at) where window_opened_at is not null;
create index deliveries_by_agent on deliveries (agent_id, id) where agent_id is not null;
-- One cause is told once to each channel, however many rules name it.
create unique index deliveries_of_incident on deliveries (incident_id, channel_id, alert_type, repeat)
    where incident_id is not null;

create table delivery_attempts (
    delivery_id text not null references deliveries (id) on delete cascade,
    position bigint not null,
    timestamp bigint not null,
    took_ms bigint not null,
    delivered integer not null,
    status_code integer,
    answer text not null,
    primary key (delivery_id, position)
) without rowid;

-- How many calls each agent made in each minute, and how many of them failed: a day of it, for rules on error rates.
create table agent_minutes (
    minute bigint not null,
    agent_id text not null,
    calls bigint not null,
    errors bigint not null,
    primary key (minute, agent_id)
) without rowid;
