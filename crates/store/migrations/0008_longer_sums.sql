-- How far sums over longer times have been made of those over shorter ones. Of so many hours, all that began before `start`
-- are there, and of the one that begins then those of agents before `next`.
create table sums_made (
    hours integer primary key not null,
    start bigint not null,
    next text not null
);

-- So far they were kept with every event, also those of the time that runs.
insert into sums_made
select hours, coalesce(newest - newest % (hours * 3600000) + hours * 3600000, 0), ''
from (select 1 as hours union all select 6 union all select 24 union all select 168),
    (select max(start) as newest from (
        select max(start) as start from rollups where span = 0 union all select max(start) from rollups where span = 1));

-- What calls of a conversation whose price is not known count towards its budget, as that was configured then.
alter table conversations add column unpriced_nano_usd bigint not null default 0;
