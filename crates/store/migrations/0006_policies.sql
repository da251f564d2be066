-- The policy of an agent that has one of its own, as JSON. All others have the default of the configuration.
create table policies (
    agent_id text primary key not null,
    policy text not null
);

-- The model that the client asked for, where a policy put another in its place.
alter table events add column model_asked text;

-- Refusals by policies are counted like those of inactive agents: one row per reason and minute.
drop index events_refused;
create unique index events_refused on events (agent_id, epoch, block_reason, minute) where minute is not null;
