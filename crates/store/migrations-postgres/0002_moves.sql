-- Moves of data from another database into this one. A move that was interrupted goes on where it stopped, and no server
-- starts before it is finished.
create table moves (
    id bigint primary key,
    finished bigint not null
);
