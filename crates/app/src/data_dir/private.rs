//! Makes the data directory private.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::anyhow;

use super::{LOCK, SERVER, SESSIONS, TLS, TOKEN};

/// Files of the data directory with secrets or conversations.
pub(super) const PRIVATE: [&str; 9] = [
    TOKEN,
    LOCK,
    SESSIONS,
    "agentgazer.key",
    "agentgazer.db",
    "agentgazer.db-wal",
    "agentgazer.db-shm",
    "evidence.db",
    "recordings.db",
];

/// The prefixes of all files of a server.
const OWN_NAMES: [&str; 6] = ["agentgazer", TOKEN, SERVER, "evidence.db", "recordings.db", TLS];

/// Removes all rights of other users on the directory and its files, and logs it. An error if that
/// is impossible.
pub(super) fn make_private(path: &Path) -> anyhow::Result<()> {
    if holds_only_ours(path) {
        repair_mode(path, 0o700)?;
    } else {
        refuse_open_directory(path)?;
    }
    PRIVATE.iter().try_for_each(|name| repair_mode(&path.join(name), 0o600))
}

/// Whether the directory holds only our files: `/tmp` or a home directory must not be made private.
fn holds_only_ours(path: &Path) -> bool {
    let is_ours = |name: &str| OWN_NAMES.iter().any(|own| name.starts_with(own));
    let is_shared = std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o1000 != 0);
    let entries = std::fs::read_dir(path).map(|entries| entries.flatten().collect::<Vec<_>>());
    !is_shared && entries.is_ok_and(|all| all.iter().all(|entry| entry.file_name().to_str().is_some_and(is_ours)))
}

/// An error if others can create files in a directory that is also used for something else.
fn refuse_open_directory(path: &Path) -> anyhow::Result<()> {
    let mode = std::fs::metadata(path).map_or(0, |found| found.permissions().mode() & 0o7777);
    let shown = path.display();
    anyhow::ensure!(
        mode & 0o022 == 0,
        "other users can change the data directory {shown} (mode {mode:04o}), which holds other files, too: give the server a \
         directory of its own with --data-dir, or chmod 0700 this one"
    );
    Ok(())
}

/// Removes all rights of other users on the file at `path`, if it exists.
pub(crate) fn repair_mode(path: &Path, private: u32) -> anyhow::Result<()> {
    let Ok(found) = std::fs::metadata(path) else { return Ok(()) };
    let mode = found.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let shown = path.display();
    std::fs::set_permissions(path, Permissions::from_mode(private)).map_err(|error| {
        anyhow!(
            "{shown} can be read or changed by other users (mode {mode:04o}): chmod {private:04o} it first ({error})"
        )
    })?;
    tracing::warn!("{shown} could be read or changed by other users (mode {mode:04o}); it is {private:04o} now");
    Ok(())
}
