//! Puts a new database in the place of the old one, in steps that a restart can resume after a
//! crash.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use model::Timestamp;

use super::super::files::beside;
use crate::StoreError;
use crate::files::create_private_file;

/// The new database once it is complete: a restart that finds it puts it in its place.
const COMPLETE: &str = ".rescued";

/// The suffix of the old database, followed by the time.
const DAMAGED: &str = ".damaged-";

/// The most old databases to keep: a disk that fails repeatedly must not fill up.
const MAX_DAMAGED: usize = 3;

/// The files that SQLite has beside a database.
const SIDE_FILES: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Makes the copy at `partial` the one that a restart uses.
pub(super) fn keep(partial: &Path, database: &Path) -> io::Result<()> {
    File::open(partial)?.sync_all()?;
    std::fs::rename(partial, beside(database, COMPLETE))?;
    sync_directory(database)
}

/// Puts the complete new database in the place of the old one, which is renamed. Returns its new
/// name, if there was an old one.
pub(crate) fn swap(database: &Path, now: Timestamp) -> io::Result<Option<PathBuf>> {
    let swapped = try_swap(database, now);
    if swapped.is_err() {
        // A later restart must not use it: it would lack what is written from now on.
        let _ = std::fs::remove_file(beside(database, COMPLETE));
    }
    swapped
}

/// Finishes what a crash interrupted.
pub(crate) fn finish_swap(database: &Path, now: Timestamp) -> io::Result<()> {
    if beside(database, COMPLETE).exists() {
        let damaged = try_swap(database, now)?;
        tracing::warn!(?damaged, "the database that was written in the place of a damaged one is used");
    }
    Ok(())
}

fn try_swap(database: &Path, now: Timestamp) -> io::Result<Option<PathBuf>> {
    let damaged = beside(database, &format!("{DAMAGED}{}", now.as_millis()));
    let existed = database.exists();
    if existed {
        delete_oldest(database);
        std::fs::rename(database, &damaged)?;
    }
    // A log left behind would be applied to the new database.
    for suffix in SIDE_FILES {
        let side_file = beside(database, suffix);
        match existed && suffix == "-wal" && side_file.exists() {
            true => std::fs::rename(&side_file, beside(&damaged, suffix))?,
            false => remove(&side_file),
        }
    }
    std::fs::rename(beside(database, COMPLETE), database)?;
    sync_directory(database)?;
    Ok(existed.then_some(damaged))
}

/// Deletes all but the newest databases that were put away before.
fn delete_oldest(database: &Path) {
    let (Some(directory), Some(name)) = (database.parent(), database.file_name()) else { return };
    let prefix = format!("{}{DAMAGED}", name.to_string_lossy());
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let named = entries.flatten().map(|entry| entry.path());
    let is_damaged = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
    let mut damaged: Vec<PathBuf> = named.filter(is_damaged).collect();
    damaged.sort();
    let excess = (damaged.len() + 1).saturating_sub(MAX_DAMAGED);
    damaged.iter().take(excess).for_each(|path| remove(path));
}

/// An empty file that only its owner can read, without leftovers of an earlier attempt beside it.
pub(super) fn create_empty(path: &Path) -> Result<(), StoreError> {
    discard(path);
    create_private_file(path)
}

/// Deletes a copy that was not finished.
pub(super) fn discard(path: &Path) {
    remove(path);
    SIDE_FILES.iter().for_each(|suffix| remove(&beside(path, suffix)));
}

/// Deletes a file that may not exist.
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}

fn sync_directory(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}
