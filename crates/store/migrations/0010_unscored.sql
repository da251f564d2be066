-- How many calls of an agent were forwarded without a score, by hour and reason.
create table unscored (
    agent_id text not null,
    hour bigint not null,
    reason text not null,
    calls bigint not null,
    primary key (agent_id, hour, reason)
) without rowid;

create index unscored_by_hour on unscored (hour);
