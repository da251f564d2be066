-- Each writer has its own rows of `rollups`, because SQL cannot add histograms: two writers that both read a histogram, add to
-- it and write it back would lose counts. Readers merge the rows. A database with one writer has rows of the writer ''.
create table rollups_by_writer (
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
    unpriced bigint not null,
    unpriced_in bigint not null,
    unpriced_out bigint not null,
    estimated bigint not null,
    -- A histogram, see store::LatencyHistogram.
    latency blob not null,
    writer text not null default '',
    primary key (span, start, agent_id, provider, model, writer)
) without rowid;

insert into rollups_by_writer
select span, start, agent_id, provider, model, requests, errors, blocked, tokens_in, tokens_out, tokens_cached,
    tokens_cache_write, tokens_reasoning, cost_nano_usd, unpriced, unpriced_in, unpriced_out, estimated, latency, ''
from rollups order by span, start, agent_id, provider, model;

drop table rollups;

alter table rollups_by_writer rename to rollups;
