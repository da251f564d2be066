//! Who may call: agent keys, web pages, and calls that are refused.

mod agent_keys;
mod pages;
mod refusals;
