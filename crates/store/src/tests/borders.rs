//! Checks the borders inside the crate in its source code.

use std::path::Path;

/// All source files below `folder`, with their names.
fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn only_the_sqlite_folder_names_sqlite() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    for folder in ["alerts", "audit", "people", "read", "servers", "settings", "stats", "write"] {
        sources(&root.join(folder), &mut files);
    }
    for file in ["change.rs", "columns.rs", "error.rs", "recorder.rs", "config/in_force.rs", "store.rs"] {
        files.push((file.to_owned(), std::fs::read_to_string(root.join(file)).unwrap()));
    }
    assert!(files.len() > 40, "the folders are found");
    for (name, source) in files {
        for line in source.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for word in ["Sqlite", "sqlite", "pragma ", "pragma_", "rowid", "indexed by", "cast(total("] {
                assert!(!line.contains(word), "{name}: {line}");
            }
        }
    }
}
