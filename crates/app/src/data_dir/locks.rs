//! Locks the data directory, so that no second server can use it.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use anyhow::anyhow;

use super::LOCK;

/// Locks on the directory itself and on a file in it. The file can be deleted; the directory cannot
/// be without its content.
#[derive(Debug)]
pub(super) struct Locks {
    directory: File,
    _file: File,
}

impl Locks {
    /// Creates the directory if it does not exist, and locks it.
    pub(super) fn take(path: &Path) -> anyhow::Result<Locks> {
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| unusable(path, &error))?;
        let directory = File::open(path).map_err(|error| unusable(path, &error))?;
        match directory.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(taken(path)),
            // Network file systems cannot lock a directory, so there the file must suffice.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path.join(LOCK));
        let file = file.map_err(|error| unusable(path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Locks { directory, _file: file }),
            Err(TryLockError::WouldBlock) => Err(taken(path)),
            Err(TryLockError::Error(error)) => Err(unusable(path, &error)),
        }
    }

    /// Whether `path` leads to the locked directory.
    pub(super) fn belong_to(&self, path: &Path) -> bool {
        let id = |file: std::fs::Metadata| (file.dev(), file.ino());
        self.directory.metadata().ok().map(id) == std::fs::metadata(path).ok().map(id)
    }
}

fn taken(path: &Path) -> anyhow::Error {
    let path = path.display();
    anyhow!("another server runs on the data directory {path}: stop it, or give this one its own with --data-dir")
}

/// One sentence that says what is wrong with the directory.
fn unusable(path: &Path, error: &io::Error) -> anyhow::Error {
    let path = path.display();
    match error.kind() {
        ErrorKind::ReadOnlyFilesystem => anyhow!(
            "the data directory {path} is on a read-only file system: make it writable, or use another with --data-dir"
        ),
        ErrorKind::PermissionDenied => anyhow!(
            "the data directory {path} belongs to another user or is read-only: make it yours with chown and chmod 0700, or \
             use another with --data-dir"
        ),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            anyhow!("the data directory {path} cannot be used because the disk is full: make room, or use another disk")
        }
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            anyhow!("the data directory {path} is a file: use another path with --data-dir")
        }
        _ => anyhow!("the data directory {path} cannot be used: {error}"),
    }
}
