-- What the loop looked like and what its calls had cost when it was stopped: the events say so for a shorter time.
alter table incidents add column stuck_since bigint;
alter table incidents add column stuck_calls bigint not null default 0;
alter table incidents add column cycle_period bigint;
alter table incidents add column cycle_laps bigint;
alter table incidents add column loop_cost_nano_usd bigint;
-- The window that fired as store::encode_fingerprint writes it, each with its length before it.
alter table incidents add column fingerprints blob;
-- Requests that were refused between the kill and the activation, and whence that came.
alter table incidents add column refused bigint not null default 0;
alter table incidents add column closed_by text;

update incidents set refused = coalesce((
    select sum(count) from events
    where events.agent_id = incidents.agent_id and events.epoch = incidents.epoch and events.minute is not null
      and events.block_reason = 'inactive'), 0)
where state <> 'observed';

-- Which later call each is like, by which signal, as JSON; and the tool calls whose results it reported.
alter table evidence add column alike text not null default '[]';
alter table evidence add column tool_calls text;

-- What does not count for an agent, until a time.
create table exemptions (
    id text primary key not null,
    agent_id text not null,
    kind text not null,
    -- Of a prompt, its hash; of tool calls, their signatures.
    prompt_hash bigint,
    literal_signature bigint,
    adaptive_signature bigint,
    -- The beginning of it, for people.
    text text not null,
    -- The false alarm that it was made for.
    incident_id text,
    created_at bigint not null,
    until bigint not null
);

create index exemptions_by_agent on exemptions (agent_id, until);
create index exemptions_until on exemptions (until);
