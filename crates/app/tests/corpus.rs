//! Replays the fuzzers' corpus: what once was interesting stays right.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed unwrap is a failed test")]

#[path = "../../../fuzz/targets/server.rs"]
mod targets;

fn replay(name: &str, target: fn(&[u8])) {
    let folder = format!("{}/../../fuzz/corpus/{name}", env!("CARGO_MANIFEST_DIR"));
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty());
    files.iter().for_each(|file| target(&std::fs::read(file).unwrap()));
}

#[test]
fn compressed_bodies() {
    replay("decompression", targets::decompression);
}

#[test]
fn configuration_files() {
    replay("config_file", targets::config_file);
}

#[test]
fn lines_of_replay_files() {
    replay("replay_line", targets::replay_line);
}
