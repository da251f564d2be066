//! Replays the fuzzers' corpus: what once was interesting stays right.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "../../../fuzz/targets/guard.rs"]
mod targets;

#[test]
fn texts() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/normalise");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty());
    files.iter().for_each(|file| targets::normalise(&std::fs::read(file).unwrap()));
}
