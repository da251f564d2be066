//! How the code of the proxy is run: long work on its own thread, panics caught, faults injected.

pub(crate) mod blocking;
pub(crate) mod catch_panic;
pub(crate) mod fault_injection;
