-- Who is logged in to the dashboard, for all servers on this database. The key is a hash of the session's id.
create table sessions (
    key text collate "C" primary key,
    line text collate "C" not null,
    ends_at bigint not null
);
