//! What must hold for any bytes that come from outside: one function per fuzz target, which panics
//! where it does not. `scripts/fuzz` searches for such bytes; `cargo test` replays those in
//! `fuzz/corpus`.
#![allow(clippy::expect_used, clippy::panic, reason = "a target reports a finding by panicking")]

mod api;
mod bodies;
mod json;
mod paths;
mod server;
mod text;

/// A target with its name, which is also the name of its folder in `fuzz/corpus`.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 11] = [
    ("answer", bodies::answer),
    ("api_body", api::api_body),
    ("body_form", paths::body_form),
    ("config_file", server::config_file),
    ("decompression", server::decompression),
    ("json", json::json),
    ("normalise", text::normalise),
    ("path", paths::path),
    ("replay_line", server::replay_line),
    ("request", bodies::request),
    ("usage_filter", bodies::usage_filter),
];
