//! Panics on purpose, so that tests of the whole program see what becomes of a call when detection has a bug. Only in
//! builds with debug assertions: a released binary has none of it.

/// Panics here if the environment variable `FAULT` names this `place`.
pub(crate) fn strike(place: &str) {
    if cfg!(debug_assertions) && std::env::var_os("FAULT").is_some_and(|fault| fault == place) {
        panic!("a fault on purpose: {place}");
    }
}
