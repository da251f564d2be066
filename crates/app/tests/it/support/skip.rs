//! Tests that cannot run everywhere are skipped with a message, never silently.

use std::io::Write;
use std::os::unix::fs::MetadataExt;

/// Whether the calling test must be skipped because it needs `what` and the process is not root.
/// `scripts/test` sets `REQUIRE_ROOT`, so that the full run fails instead.
pub(crate) fn skip_without_root(what: &str) -> bool {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if is_root {
        return false;
    }
    let test = test_name();
    assert!(std::env::var_os("REQUIRE_ROOT").is_none(), "{test} needs {what}, which needs root");
    say(&format!("SKIPPED {test}: {what} needs root; scripts/test runs it"));
    true
}

/// Whether `TEST_DATABASE=postgres` selects PostgreSQL. `scripts/test` runs the tests on both.
pub(crate) fn wants_postgres() -> bool {
    std::env::var_os("TEST_DATABASE").is_some_and(|kind| kind == "postgres")
}

/// Whether the calling test must be skipped because it reads or changes the file of SQLite and
/// another database is selected.
pub(crate) fn skip_without_sqlite() -> bool {
    if wants_postgres() {
        say(&format!("SKIPPED {}: it needs the file of SQLite", test_name()));
    }
    wants_postgres()
}

fn test_name() -> String {
    std::thread::current().name().unwrap_or("a test").to_owned()
}

/// The macros' output is captured when a test passes; a skipped test must be seen.
fn say(message: &str) {
    let _ = writeln!(std::io::stderr(), "{message}");
}
