//! The data directory: private to its user, used by one server at a time. It holds the token and
//! the addresses that other commands read.

mod addresses;
mod locks;
mod private;
#[cfg(test)]
mod tests;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, anyhow};
use secrecy::{ExposeSecret, SecretString};
use web::SessionStorage;

pub(crate) use self::addresses::Addresses;
use self::locks::Locks;
use self::private::make_private;
pub(crate) use self::private::repair_mode;
use crate::atomic_file::write_atomically;

const TOKEN: &str = "token";
const SERVER: &str = "server.json";
const LOCK: &str = "agentgazer.lock";
const SESSIONS: &str = "agentgazer.sessions";
/// The folder with certificates for trying TLS.
pub(crate) const TLS: &str = "tls";

/// The data directory of a running server. No one else can open it until this is dropped.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    locks: Mutex<Locks>,
    /// The content to write again if the directory is deleted while the server runs.
    token: Mutex<Option<SecretString>>,
    addresses: Mutex<Option<Addresses>>,
}

impl DataDir {
    /// Creates the directory if it does not exist, makes it private, and locks it.
    pub(crate) fn open(path: &Path) -> anyhow::Result<DataDir> {
        let locks = Mutex::new(Locks::take(path)?);
        make_private(path)?;
        Ok(DataDir { path: path.to_owned(), locks, token: Mutex::default(), addresses: Mutex::default() })
    }

    /// Creates the directory again if it was deleted or replaced while the server ran, with its
    /// known files. An error if another server has it.
    pub(crate) fn claim_again(&self) -> anyhow::Result<()> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if !locks.belong_to(&self.path) {
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

    /// The token, generated at the first start.
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

    /// Replaces the token.
    pub(crate) fn token_writer(self: &Arc<Self>) -> impl Fn(&SecretString) -> io::Result<()> + use<> {
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

    /// The storage of the dashboard's sessions. Unreadable sessions are dropped: people have to log
    /// in again.
    pub(crate) fn sessions(&self) -> SessionStorage {
        let path = self.path.join(SESSIONS);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        SessionStorage::new(text, move |text| write_atomically(&path, text.as_bytes()).map_err(io::Error::other))
    }

    /// Writes the addresses for other commands.
    pub(crate) fn write_addresses(&self, addresses: &Addresses) -> anyhow::Result<()> {
        *self.addresses.lock().unwrap_or_else(PoisonError::into_inner) = Some(addresses.clone());
        addresses.write(&self.path.join(SERVER))
    }

    /// Removes the addresses when the server ends.
    pub(crate) fn remove_addresses(&self) {
        // A file left behind only makes other commands report that no server answers.
        let _ = std::fs::remove_file(self.path.join(SERVER));
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
