//! The data directory: private to its user, held by one server at a time, home of the token and of the note that tells
//! the other commands where the server is.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

const TOKEN: &str = "token";
const SERVER: &str = "server.json";
const LOCK: &str = "agentgazer.lock";

/// The data directory of a running server. Nobody else can open it until this is dropped.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    _lock: File,
}

/// The addresses of a running server, as written to `server.json` and to the ready file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Addresses {
    /// Where agents call.
    pub(crate) proxy: String,
    /// Where people and programs look.
    pub(crate) dashboard: String,
}

impl DataDir {
    /// Makes the directory if it does not exist, and holds it.
    pub(crate) fn open(path: &Path) -> anyhow::Result<DataDir> {
        let named = || format!("the data directory {} cannot be used", path.display());
        DirBuilder::new().recursive(true).mode(0o700).create(path).with_context(named)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path.join(LOCK));
        let lock = lock.with_context(named)?;
        match lock.try_lock() {
            Ok(()) => Ok(DataDir { path: path.to_owned(), _lock: lock }),
            Err(std::fs::TryLockError::WouldBlock) => Err(anyhow!(
                "another server runs on the data directory {}: stop it, or give this one its own with --data-dir",
                path.display()
            )),
            Err(std::fs::TryLockError::Error(error)) => Err(error).with_context(named),
        }
    }

    /// The token, made at the first start.
    pub(crate) fn token(&self) -> anyhow::Result<SecretString> {
        if let Some(token) = read_token(&self.path)? {
            return Ok(token);
        }
        let mut random = [0_u8; 32];
        getrandom::fill(&mut random).map_err(|error| anyhow!("no random numbers: {error}"))?;
        let token: SecretString = random.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        write_token(&self.path, &token)?;
        Ok(token)
    }

    /// Puts another token in the place of the one that is there.
    pub(crate) fn keep_token(&self) -> impl Fn(&SecretString) -> std::io::Result<()> + use<> {
        let path = self.path.clone();
        move |token| write_token(&path, token).map_err(std::io::Error::other)
    }

    /// Tells the other commands where the server is.
    pub(crate) fn write_addresses(&self, addresses: &Addresses) -> anyhow::Result<()> {
        addresses.write(&self.path.join(SERVER))
    }

    /// The server is gone.
    pub(crate) fn forget_addresses(&self) {
        // Left behind, it only makes the other commands say that no server answers.
        let _ = std::fs::remove_file(self.path.join(SERVER));
    }
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

/// Writes a file that only its user can read. A reader sees the old one, none, or all of the new one.
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
    write().with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use std::os::unix::fs::PermissionsExt;

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
    fn addresses_are_found_again() {
        let parent = tempfile::tempdir().unwrap();
        let addresses =
            Addresses { proxy: "http://127.0.0.1:1".to_owned(), dashboard: "http://127.0.0.1:2".to_owned() };
        assert_eq!(Addresses::read(parent.path()), None);
        let directory = DataDir::open(parent.path()).unwrap();
        directory.write_addresses(&addresses).unwrap();
        assert_eq!(Addresses::read(parent.path()), Some(addresses));
        directory.forget_addresses();
        assert_eq!(Addresses::read(parent.path()), None);
    }
}
