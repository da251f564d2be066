-- People who log in with a name and a password.
create table users (
    id text primary key not null,
    name text not null,
    -- The name in lower case: nobody can be mistaken for somebody else by a capital.
    login text not null,
    role text not null,
    -- Argon2id in PHC form; none of a user that logs in elsewhere.
    password_hash text,
    -- Sessions of an earlier version are over: it grows with every change of password or role.
    session_version bigint not null,
    created_at bigint not null,
    last_login bigint
);

create unique index users_by_login on users (login);

-- Tokens of programs. Only a hash is kept: each has 256 random bits, so nobody can search for it.
create table api_tokens (
    id text primary key not null,
    name text not null,
    role text not null,
    hash text not null,
    created_at bigint not null,
    created_by text not null,
    expires_at bigint,
    last_used bigint
);

create unique index api_tokens_by_hash on api_tokens (hash);

-- Who did what. Rows are only added: each holds a hash of itself and of the row before it.
create table audit (
    number bigint primary key not null,
    at bigint not null,
    actor_kind text not null,
    actor_id text,
    actor_name text not null,
    role text not null,
    address text,
    via text not null,
    action text not null,
    target text,
    -- What changed, as JSON.
    before text,
    after text,
    reason text,
    hash text not null
);

create index audit_by_target on audit (target, number);

create trigger audit_is_never_changed before update on audit
begin
    select raise(abort, 'the audit log is only added to');
end;

create trigger audit_is_never_deleted before delete on audit
begin
    select raise(abort, 'the audit log is only added to');
end;

-- The number and the hash of the newest row, encrypted with the key file: whoever has only the database cannot cut the log off.
create table audit_head (
    id integer primary key not null,
    ciphertext text not null,
    key_id text not null
);
