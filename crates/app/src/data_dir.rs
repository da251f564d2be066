//! The data directory: private to its user, held by one server at a time, home of the token and of
//! the note that tells the other commands where the server is.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, anyhow};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use web::SessionStorage;

use crate::tls::Trust;

const TOKEN: &str = "token";
const SERVER: &str = "server.json";
const LOCK: &str = "agentgazer.lock";
const SESSIONS: &str = "agentgazer.sessions";
/// The folder with certificates for trying TLS.
pub(crate) const TLS: &str = "tls";

/// Files of the data directory that hold secrets, or what agents say.
const PRIVATE: [&str; 9] = [
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

/// What the names of all files of a server begin with.
const OWN_NAMES: [&str; 6] = ["agentgazer", TOKEN, SERVER, "evidence.db", "recordings.db", TLS];

/// The data directory of a running server. Nobody else can open it until this is dropped.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    locks: Mutex<Locks>,
    /// What has to be written again if the directory is deleted while the server runs.
    token: Mutex<Option<SecretString>>,
    addresses: Mutex<Option<Addresses>>,
}

/// The directory itself and a file in it. The file can be deleted, the directory cannot without
/// what is in it.
#[derive(Debug)]
struct Locks {
    directory: File,
    _file: File,
}

/// The addresses of a running server, as written to `server.json` and to the ready file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Addresses {
    /// Where agents call.
    pub(crate) proxy: String,
    /// Where people and programs look.
    pub(crate) dashboard: String,
    /// The file with the certificate of both, if they speak TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<PathBuf>,
}

impl Addresses {
    /// What a command trusts at these addresses.
    pub(crate) fn trust(&self) -> Trust {
        self.certificate.clone().map_or(Trust::System, Trust::Certificate)
    }
}

impl DataDir {
    /// Makes the directory if it does not exist, takes it from everybody else's eyes, and holds it.
    pub(crate) fn open(path: &Path) -> anyhow::Result<DataDir> {
        let locks = Mutex::new(Locks::take(path)?);
        make_private(path)?;
        Ok(DataDir { path: path.to_owned(), locks, token: Mutex::default(), addresses: Mutex::default() })
    }

    /// Makes the directory again if it was deleted or replaced while the server ran, with what it
    /// knows of its files. An error if another server has it.
    pub(crate) fn claim_again(&self) -> anyhow::Result<()> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if !locks.are_of(&self.path) {
            *locks = Locks::take(&self.path)?;
        }
        if let Some(token) = &*self.token.lock().unwrap_or_else(PoisonError::into_inner)
            && !self.path.join(TOKEN).exists()
        {
            write_token(&self.path, token)?;
        }
        if let Some(addresses) = &*self.addresses.lock().unwrap_or_else(PoisonError::into_inner) {
            addresses.write(&self.path.join(SERVER))?;
        }
        Ok(())
    }

    /// The token, made at the first start.
    pub(crate) fn token(&self) -> anyhow::Result<SecretString> {
        if let Some(token) = read_token(&self.path)? {
            self.remember_token(&token);
            return Ok(token);
        }
        let mut random = [0_u8; 32];
        getrandom::fill(&mut random).map_err(|error| anyhow!("no random numbers: {error}"))?;
        let token: SecretString = random.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        write_token(&self.path, &token)?;
        self.remember_token(&token);
        Ok(token)
    }

    /// Puts another token in the place of the one that is there.
    pub(crate) fn keep_token(self: &Arc<Self>) -> impl Fn(&SecretString) -> io::Result<()> + use<> {
        let directory = Arc::clone(self);
        move |token| {
            write_token(&directory.path, token).map_err(io::Error::other)?;
            directory.remember_token(token);
            Ok(())
        }
    }

    fn remember_token(&self, token: &SecretString) {
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.clone());
    }

    /// Where the dashboard keeps its sessions. Unreadable ones are lost, which only asks people to
    /// log in again.
    pub(crate) fn sessions(&self) -> SessionStorage {
        let path = self.path.join(SESSIONS);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        SessionStorage::new(text, move |text| write_atomically(&path, text.as_bytes()).map_err(io::Error::other))
    }

    /// Tells the other commands where the server is.
    pub(crate) fn write_addresses(&self, addresses: &Addresses) -> anyhow::Result<()> {
        *self.addresses.lock().unwrap_or_else(PoisonError::into_inner) = Some(addresses.clone());
        addresses.write(&self.path.join(SERVER))
    }

    /// The server is gone.
    pub(crate) fn forget_addresses(&self) {
        // Left behind, it only makes the other commands say that no server answers.
        let _ = std::fs::remove_file(self.path.join(SERVER));
    }
}

impl Locks {
    /// Makes the directory if it does not exist, and locks it.
    fn take(path: &Path) -> anyhow::Result<Locks> {
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| unusable(path, &error))?;
        let directory = File::open(path).map_err(|error| unusable(path, &error))?;
        match directory.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(taken(path)),
            // Network file systems cannot lock a directory: there the file has to do.
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

    /// Whether `path` leads to the directory that is locked.
    fn are_of(&self, path: &Path) -> bool {
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

/// Takes the rights of everybody else from the directory and its files, and says so. An error if
/// that is not possible.
fn make_private(path: &Path) -> anyhow::Result<()> {
    if holds_only_ours(path) {
        repair_mode(path, 0o700)?;
    } else {
        refuse_open_directory(path)?;
    }
    PRIVATE.iter().try_for_each(|name| repair_mode(&path.join(name), 0o600))
}

/// Whether the directory is ours alone: nobody wants `/tmp` or a home directory to be taken from
/// everybody else.
fn holds_only_ours(path: &Path) -> bool {
    let is_ours = |name: &str| OWN_NAMES.iter().any(|own| name.starts_with(own));
    let is_shared = std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o1000 != 0);
    let entries = std::fs::read_dir(path).map(|entries| entries.flatten().collect::<Vec<_>>());
    !is_shared && entries.is_ok_and(|all| all.iter().all(|entry| entry.file_name().to_str().is_some_and(is_ours)))
}

/// An error if others can put files into a directory that they use, too.
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

/// Takes the rights of everybody else from the file at `path`, if it exists.
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

impl Addresses {
    /// Those of the server that was last started on the data directory `path`.
    pub(crate) fn read(path: &Path) -> Option<Addresses> {
        serde_json::from_slice(&std::fs::read(path.join(SERVER)).ok()?).ok()
    }

    /// Writes them to the file at `path`, whole or not at all.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        write_atomically(path, serde_json::to_string(self)?.as_bytes())
    }
}

fn write_token(path: &Path, token: &SecretString) -> anyhow::Result<()> {
    write_atomically(&path.join(TOKEN), format!("{}\n", token.expose_secret()).as_bytes())
}

/// The token in the data directory at `path`, if there is one.
pub(crate) fn read_token(path: &Path) -> anyhow::Result<Option<SecretString>> {
    let file = path.join(TOKEN);
    match std::fs::read_to_string(&file) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => Ok(Some(SecretString::from(text.trim()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("the token file {} cannot be read", file.display())),
    }
}

/// Writes a file that only its user can read. A reader sees the old one, none, or all of the new
/// one.
pub(crate) fn write_atomically(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = path.with_file_name(name);
    let write = || {
        // A leftover of a crash may have other permissions.
        let _ = std::fs::remove_file(&fresh);
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&fresh)?;
        file.write_all(content)?;
        file.sync_all()?;
        std::fs::rename(&fresh, path)
    };
    let written = write();
    if written.is_err() {
        let _ = std::fs::remove_file(&fresh);
    }
    written.with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn directory_and_token_are_private_and_the_token_stays() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("deep/data");
        let first = DataDir::open(&path).unwrap().token().unwrap();
        assert_eq!((mode(&path), mode(&path.join(TOKEN)), mode(&path.join(LOCK))), (0o700, 0o600, 0o600));
        let again = DataDir::open(&path).unwrap().token().unwrap();
        assert_eq!(first.expose_secret(), again.expose_secret());
        assert_eq!(first.expose_secret().len(), 64);
        assert_eq!(read_token(&path).unwrap().unwrap().expose_secret(), first.expose_secret());
    }

    #[test]
    fn a_second_server_is_refused_until_the_first_is_gone() {
        let parent = tempfile::tempdir().unwrap();
        let first = DataDir::open(parent.path()).unwrap();
        let refused = DataDir::open(parent.path()).unwrap_err();
        assert!(refused.to_string().contains("another server runs on the data directory"), "{refused}");
        drop(first);
        assert!(DataDir::open(parent.path()).is_ok());
    }

    #[test]
    fn second_server_is_refused_after_the_lock_file_was_deleted() {
        let parent = tempfile::tempdir().unwrap();
        let _first = DataDir::open(parent.path()).unwrap();
        std::fs::remove_file(parent.path().join(LOCK)).unwrap();
        let refused = DataDir::open(parent.path()).unwrap_err();
        assert!(refused.to_string().contains("another server runs on the data directory"), "{refused}");
    }

    #[test]
    fn open_modes_of_directory_and_files_are_repaired() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("data");
        std::fs::create_dir(&path).unwrap();
        for name in PRIVATE {
            std::fs::write(path.join(name), "secret").unwrap();
            std::fs::set_permissions(path.join(name), Permissions::from_mode(0o644)).unwrap();
        }
        std::fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        let _directory = DataDir::open(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        assert_eq!(PRIVATE.map(|name| mode(&path.join(name))), [0o600; 9]);
    }

    #[test]
    fn shared_directory_is_refused_and_left_as_it_is() {
        let parent = tempfile::tempdir().unwrap();
        for (name, mode_before, file) in [("sticky", 0o1777, None), ("used", 0o777, Some("letter.txt"))] {
            let path = parent.path().join(name);
            std::fs::create_dir(&path).unwrap();
            file.iter().for_each(|file| std::fs::write(path.join(file), "mine").unwrap());
            std::fs::set_permissions(&path, Permissions::from_mode(mode_before)).unwrap();
            let refused = DataDir::open(&path).unwrap_err();
            assert!(refused.to_string().contains("a directory of its own"), "{refused}");
            assert_eq!(mode(&path), mode_before & 0o777);
        }
    }

    #[test]
    fn directory_with_other_files_that_others_only_read_is_used_as_it_is() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("project");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("notes.txt"), "mine").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        let _directory = DataDir::open(&path).unwrap();
        assert_eq!(mode(&path), 0o755);
    }

    #[test]
    fn deleted_directory_is_claimed_again_with_its_token() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("data");
        let directory = DataDir::open(&path).unwrap();
        let token = directory.token().unwrap();
        std::fs::remove_dir_all(&path).unwrap();
        directory.claim_again().unwrap();
        assert_eq!(read_token(&path).unwrap().unwrap().expose_secret(), token.expose_secret());
        assert!(DataDir::open(&path).unwrap_err().to_string().contains("another server"), "it is locked again");
    }

    #[test]
    fn directory_that_another_server_has_taken_is_not_claimed() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("data");
        let first = DataDir::open(&path).unwrap();
        std::fs::remove_dir_all(&path).unwrap();
        let _second = DataDir::open(&path).unwrap();
        let refused = first.claim_again().unwrap_err();
        assert!(refused.to_string().contains("another server"), "{refused}");
    }

    #[test]
    fn addresses_are_found_again() {
        let parent = tempfile::tempdir().unwrap();
        let addresses = Addresses {
            proxy: "http://127.0.0.1:1".to_owned(),
            dashboard: "http://127.0.0.1:2".to_owned(),
            certificate: None,
        };
        assert_eq!(Addresses::read(parent.path()), None);
        let directory = DataDir::open(parent.path()).unwrap();
        directory.write_addresses(&addresses).unwrap();
        assert_eq!(Addresses::read(parent.path()), Some(addresses));
        directory.forget_addresses();
        assert_eq!(Addresses::read(parent.path()), None);
    }
}
