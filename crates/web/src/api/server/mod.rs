//! The server itself: its health, its settings, its providers and its token.

pub(crate) mod health;
pub(crate) mod metrics;
pub(crate) mod providers;
pub(crate) mod replicas;
pub(crate) mod settings;
pub(crate) mod smtp;
pub(crate) mod status;
pub(crate) mod token;
