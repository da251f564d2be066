-- A search for a text looks at all errors, and at no other event.
create index if not exists events_with_error on events (id, error) where error is not null;
