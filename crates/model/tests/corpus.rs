//! Replays the fuzzers' corpus: what once was interesting stays right.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed unwrap is a failed test")]

#[path = "../../../fuzz/targets/api.rs"]
mod targets;

fn replay(name: &str, target: fn(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty());
    files.iter().for_each(|file| target(&std::fs::read(file).unwrap()));
}

#[test]
fn bodies_of_the_api() {
    replay("api_body", targets::api_body);
}
