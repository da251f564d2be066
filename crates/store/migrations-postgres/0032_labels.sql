-- Labels of an agent, by which groups may name it, as a JSON list; null for none.
alter table agents add column labels text;
create index agents_with_labels on agents (id) where labels is not null;

-- Agents with one of these labels are in the group, as a JSON list; null for none.
alter table agent_groups add column labels text;
-- Since when no agent of the group may call, also one that is not known yet; null while they may.
alter table agent_groups add column stopped_at bigint;
