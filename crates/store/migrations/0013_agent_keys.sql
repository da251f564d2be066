-- Agent keys: only the SHA-256 of a key is kept. `agents` is one agent's name, or a pattern of names.
create table agent_keys (
    id text primary key not null,
    name text,
    agents text not null,
    hash text not null unique,
    created_at bigint not null,
    expires_at bigint,
    last_used_at bigint
);

-- Groups of agents: `agents` is a JSON list of names and patterns, `policy` the policy that the agents of the group share, and
-- `kill_switch` what new agents of the group have other than the defaults, both as JSON.
create table agent_groups (
    name text primary key not null,
    agents text not null,
    policy text not null,
    kill_switch text not null
);

-- The agent key that a call came with.
alter table events add column key_id text;
