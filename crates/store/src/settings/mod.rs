//! Settings that people change one by one: the SMTP server, and the recording of an agent.

pub(crate) mod recording_switch;
pub(crate) mod smtp;
