-- The results of the tool calls that a call reported, and why its bodies are missing ('restart', 'budget').
alter table evidence add column tool_results text;
alter table evidence add column missing text;
