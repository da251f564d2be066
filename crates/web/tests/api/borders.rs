//! `web` changes memory and disk only through `control`: no handler has an order of commits of its
//! own.

use std::path::Path;

/// Calls that change the guard, the providers or the database.
const CHANGES: [&str; 14] = [
    "recorder.change(",
    "guard.configure",
    "guard.activate(",
    "guard.deactivate(",
    "guard.exempt(",
    "guard.forget(",
    "guard.suspend_kills(",
    "guard.restore(",
    "guard.set_defaults(",
    "policies().put(",
    "policies().reset(",
    "policies().set_default(",
    "providers.put(",
    "providers.remove(",
];

#[test]
fn no_handler_changes_memory_or_disk_itself() {
    let mut found = Vec::new();
    look_into(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.is_empty(), "these belong into crates/control: {found:#?}");
}

fn look_into(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            look_into(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // Calls may be broken over lines.
        let joined: String = text.split_whitespace().collect();
        let changes = CHANGES.iter().filter(|change| joined.contains(*change));
        found.extend(changes.map(|change| format!("{}: {change}", path.display())));
    }
}
