-- Whether tokens and cost of an event are an estimate.
alter table events add column cost_estimated integer not null default 0;

-- What happened in an hour (span 0) or a day (span 1) that began at `start`, by agent, provider and model; kept in the same
-- transaction as the events. The rows with an empty agent_id are the sums over all agents. The time comes first in the key,
-- so that what a batch touches lies on few pages, and what is too old goes from the front.
create table rollups (
    span integer not null,
    start bigint not null,
    agent_id text not null,
    provider text not null,
    model text not null,
    requests bigint not null,
    errors bigint not null,
    blocked bigint not null,
    tokens_in bigint not null,
    tokens_out bigint not null,
    tokens_cached bigint not null,
    tokens_cache_write bigint not null,
    tokens_reasoning bigint not null,
    cost_nano_usd bigint not null,
    -- Requests whose tokens are known and whose price is not, and those tokens.
    unpriced bigint not null,
    unpriced_in bigint not null,
    unpriced_out bigint not null,
    -- Requests whose tokens and cost are an estimate.
    estimated bigint not null,
    -- A histogram, see store::Sketch.
    latency blob not null,
    primary key (span, start, agent_id, provider, model)
) without rowid;

create table conversations (
    agent_id text not null,
    conversation text not null,
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
    primary key (agent_id, conversation)
) without rowid;

create index conversations_by_hour on conversations (last_hour, agent_id);
