//! Creates directories and files that only their owner can read.

use std::path::Path;

use crate::StoreError;

/// Creates a directory that only its owner can read: prompts and answers are private.
pub(crate) fn create_private_dir(path: &Path) -> Result<(), StoreError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(path)
        .map_err(|error| StoreError::Setup(format!("the data directory {} cannot be made: {error}", path.display())))
}

/// Creates a file that only its owner can read. SQLite gives its other files (`-wal`, `-shm`) the
/// mode of this one.
pub(crate) fn create_private_file(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop).map_err(|error| {
        StoreError::Setup(format!("the database {} cannot be opened for writing: {error}", path.display()))
    })
}
