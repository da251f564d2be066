//! How AgentGazer tells people. Empty for now: the rules, the outbox worker and the channels come here, and this is the
//! only crate that will call out on its own.
