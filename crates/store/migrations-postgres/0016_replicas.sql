-- Who sends a delivery, and until when nobody else does; of several replicas on one database.
alter table deliveries add column leased_by text collate "C", add column leased_until bigint;

-- Work that one replica does at a time, like evaluating the alert rules, and until when it is taken.
create table claims (
    name text collate "C" primary key,
    holder text collate "C" not null,
    until bigint not null
);

-- What changed, for the other replicas: each reads what is new and takes it into memory. Written in the transaction of the change.
create table changes (
    id bigserial primary key,
    kind text collate "C" not null,
    key text collate "C" not null,
    at bigint not null,
    -- Who made the change, and need not hear of it.
    replica text collate "C" not null
);

-- The servers on this database. Times are those of the database.
create table replicas (
    id text collate "C" primary key,
    version text collate "C" not null,
    address text collate "C" not null,
    mode text collate "C" not null,
    started_at bigint not null,
    heartbeat_at bigint not null,
    -- How long ago it last read what others changed, when it said so.
    lag_ms bigint not null
);

-- Milliseconds since 1970 by the clock of the database, the only one that all replicas share.
create function now_ms() returns bigint language sql volatile as $$
    select (extract(epoch from clock_timestamp()) * 1000)::bigint
$$;
