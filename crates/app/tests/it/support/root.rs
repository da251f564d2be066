//! Tests that need root: skipped with a message in a developer's run, required in the full one.

use std::io::Write;
use std::os::unix::fs::MetadataExt;

/// Whether the calling test must be skipped because it needs `what` and the process is not root.
/// `scripts/test` sets `REQUIRE_ROOT`, so that the full run fails instead.
pub(crate) fn skip_without_root(what: &str) -> bool {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if is_root {
        return false;
    }
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    assert!(std::env::var_os("REQUIRE_ROOT").is_none(), "{test} needs {what}, which needs root");
    // The macros' output is captured when a test passes; a skipped test must be seen.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {what} needs root; scripts/test runs it");
    true
}
