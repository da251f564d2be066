//! Panics on request, so that tests of the whole program can check how a call ends when detection
//! has a bug. Release builds contain none of it.

/// Panics if the environment variable `FAULT` names this `place`.
pub(crate) fn panic_if_requested(place: &str) {
    if cfg!(debug_assertions) && std::env::var_os("FAULT").is_some_and(|fault| fault == place) {
        panic!("a fault on purpose: {place}");
    }
}
