//! Replays the corpus of every fuzz target.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(clippy::print_stdout, reason = "the harness shows it if a target panics")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fuzz_targets::TARGETS;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

fn entries(folder: PathBuf) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn every_corpus_entry_passes_its_target() {
    for (name, target) in TARGETS {
        let files = entries(corpus().join(name));
        assert!(!files.is_empty(), "{name} has no corpus");
        for file in files {
            let input = fs::read(&file).unwrap();
            println!("{}", file.display());
            target(&input);
        }
    }
}

#[test]
fn every_corpus_folder_belongs_to_a_target() {
    let folders = entries(corpus());
    let folders: BTreeSet<_> = folders.iter().map(|folder| folder.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(folders, TARGETS.iter().map(|(name, _)| *name).collect());
}
