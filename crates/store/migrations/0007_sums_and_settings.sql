-- What each agent did, all its models together, in the 1, 6, 24 or 168 hours that began at `start`: any period is a few of
-- these for each agent, however long it is. Kept in the same transaction as the events; the time comes first in the key for
-- the same reasons as in `rollups`.
create table agent_sums (
    hours integer not null,
    start bigint not null,
    agent_id text not null,
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
) without rowid;

-- Hours are in `rollups` as span 0, days as span 1.
insert into agent_sums
select lengths.hours, start - start % (lengths.hours * 3600000), agent_id, sum(requests), sum(errors), sum(blocked),
    sum(tokens_in), sum(tokens_out), sum(tokens_cached), sum(tokens_cache_write), sum(tokens_reasoning),
    sum(cost_nano_usd), sum(unpriced), sum(unpriced_in), sum(unpriced_out), sum(estimated)
from rollups
join (select 1 as hours, 0 as span union all select 6, 0 union all select 24, 1 union all select 168, 1) as lengths
    on lengths.span = rollups.span
where agent_id <> ''
group by 1, 2, 3;

-- What people have set for all agents, as JSON. It goes before the configuration; what is not here is as configured.
create table settings (
    name text primary key not null,
    value text not null
);
