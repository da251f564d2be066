-- The groups of agents that an operator is limited to, as a JSON list; null for all agents.
alter table users add column agent_groups text;
alter table api_tokens add column agent_groups text;
