//! The files of the open database: whether they were deleted or replaced, and whether another
//! program changed them.

use std::fmt;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The database, its write-ahead log and the index of that log.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// The files that are open.
#[derive(Debug)]
pub(crate) struct DatabaseFiles {
    paths: [PathBuf; 3],
    opened: [FileId; 3],
}

/// Identifies a file independently of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

/// Changes whenever the database file is written, which only checkpoints do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: (i64, i64),
    length: u64,
    /// The length of the write-ahead log, which becomes shorter only after a checkpoint.
    pub(crate) log_length: u64,
}

/// What happened to the files while they were open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The directory is gone, and everything in it.
    Directory(PathBuf),
    /// A file is gone.
    Deleted(String),
    /// Another file has the name.
    Replaced(String),
    /// The content cannot be read, with the reason.
    Damaged(String),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Directory(path) => {
                write!(f, "the data directory {} was deleted while the server was running", path.display())
            }
            Loss::Deleted(name) => write!(f, "{name} was deleted while the server was running"),
            Loss::Replaced(name) => write!(f, "{name} was replaced by another file while the server was running"),
            Loss::Damaged(why) => write!(f, "the database file is damaged ({why})"),
        }
    }
}

impl DatabaseFiles {
    /// The files of `database`, which a connection has just opened.
    pub(crate) fn of(database: &Path) -> io::Result<DatabaseFiles> {
        let paths = SUFFIXES.map(|suffix| beside(database, suffix));
        let opened = [FileId::of(&paths[0])?, FileId::of(&paths[1])?, FileId::of(&paths[2])?];
        Ok(DatabaseFiles { paths, opened })
    }

    /// What happened to the files by name; `None` if nothing did.
    pub(crate) fn loss(&self) -> Option<Loss> {
        self.paths.iter().zip(self.opened).find_map(|(path, opened)| {
            let name = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match FileId::of(path) {
                Ok(found) if found == opened => None,
                Ok(_) => Some(Loss::Replaced(name())),
                Err(error) if error.kind() == ErrorKind::NotFound => Some(match path.parent() {
                    Some(directory) if !directory.exists() => Loss::Directory(directory.to_owned()),
                    _ => Loss::Deleted(name()),
                }),
                // The files may be intact even if their path cannot be read.
                Err(_) => None,
            }
        })
    }

    /// When and how far the files were last written.
    pub(crate) fn stamp(&self) -> io::Result<Stamp> {
        let database = std::fs::metadata(&self.paths[0])?;
        Ok(Stamp {
            modified: (database.mtime(), database.mtime_nsec()),
            length: database.len(),
            log_length: std::fs::metadata(&self.paths[1])?.len(),
        })
    }
}

impl Stamp {
    /// Whether the database file itself is as it was.
    pub(crate) fn is_same_file(&self, other: &Stamp) -> bool {
        (self.modified, self.length) == (other.modified, other.length)
    }
}

impl FileId {
    fn of(path: &Path) -> io::Result<FileId> {
        std::fs::metadata(path).map(|file| FileId { device: file.dev(), inode: file.ino() })
    }
}

/// The path with `suffix` after its name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
