//! Replays the fuzzers' corpus: what once was interesting stays right.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "../../../fuzz/targets/wire.rs"]
mod targets;

#[path = "../../../fuzz/targets/paths.rs"]
mod paths;

fn replay(name: &str, target: fn(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty());
    files.iter().for_each(|file| target(&std::fs::read(file).unwrap()));
}

#[test]
fn answers() {
    replay("answer", targets::answer);
}

#[test]
fn usage_filters() {
    replay("usage_filter", targets::usage_filter);
}

#[test]
fn requests() {
    replay("request", targets::request);
}

#[test]
fn paths_and_headers() {
    replay("path", paths::path);
}

#[test]
fn forms_of_bodies() {
    replay("body_form", paths::body_form);
}
