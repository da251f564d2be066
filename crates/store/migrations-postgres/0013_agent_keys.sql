-- Agent keys: only the SHA-256 of a key is kept. `agents` is one agent's name, or a pattern of names.
create table agent_keys (
    id text collate "C" primary key,
    name text collate "C",
    agents text collate "C" not null,
    hash text collate "C" not null unique,
    created_at bigint not null,
    expires_at bigint,
    last_used_at bigint
);

-- Groups of agents: names and patterns, the policy they share, and what new agents of the group have other than the defaults, all as
-- JSON.
create table agent_groups (
    name text collate "C" primary key,
    agents text collate "C" not null,
    policy text collate "C" not null,
    kill_switch text collate "C" not null
);

-- The agent key that a call came with.
alter table events add column key_id text collate "C";
