-- Logins at an identity provider that were finished, so that none is finished again, on any server. The key is a hash of the
-- login's nonce; after `ends_at` the provider's token is refused because it has expired.
create table finished_logins (
    key text collate "C" primary key,
    ends_at bigint not null
);
