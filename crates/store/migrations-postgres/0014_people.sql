-- People who log in with a name and a password.
create table users (
    id text collate "C" primary key,
    name text collate "C" not null,
    -- The name in lower case: nobody can be mistaken for somebody else by a capital.
    login text collate "C" not null unique,
    role text collate "C" not null,
    -- Argon2id in PHC form; none of a user that logs in elsewhere.
    password_hash text collate "C",
    -- Sessions of an earlier version are over: it grows with every change of password or role.
    session_version bigint not null,
    created_at bigint not null,
    last_login bigint
);

-- Tokens of programs. Only a hash is kept: each has 256 random bits, so nobody can search for it.
create table api_tokens (
    id text collate "C" primary key,
    name text collate "C" not null,
    role text collate "C" not null,
    hash text collate "C" not null unique,
    created_at bigint not null,
    created_by text collate "C" not null,
    expires_at bigint,
    last_used bigint
);

-- Who did what. Rows are only added: each holds a hash of itself and of the row before it.
create table audit (
    number bigint primary key,
    at bigint not null,
    actor_kind text collate "C" not null,
    actor_id text collate "C",
    actor_name text collate "C" not null,
    role text collate "C" not null,
    address text collate "C",
    via text collate "C" not null,
    action text collate "C" not null,
    target text collate "C",
    -- What changed, as JSON.
    before text collate "C",
    after text collate "C",
    reason text collate "C",
    hash text collate "C" not null
);

create index audit_by_target on audit (target, number);

create function refuse_change_of_audit() returns trigger language plpgsql as $$
begin
    raise exception 'the audit log is only added to';
end
$$;

create trigger audit_is_never_changed before update or delete or truncate on audit
    for each statement execute function refuse_change_of_audit();

-- The number and the hash of the newest row, encrypted with the key file: whoever has only the database cannot cut the log off.
create table audit_head (
    id bigint primary key,
    ciphertext text collate "C" not null,
    key_id text collate "C" not null
);
