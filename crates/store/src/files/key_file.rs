//! The key that encrypts provider keys and channels at rest. It has its own file, so that a copy of
//! the database alone reveals no secret.

use std::fmt;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use secrecy::{ExposeSecret, SecretString, zeroize::Zeroize};

use crate::StoreError;

const KEY_SIZE: usize = 32;
const NONCE_SIZE: usize = 24;

/// Encrypts and decrypts secrets in the database.
#[derive(Clone)]
pub(crate) struct KeyFile {
    cipher: XChaCha20Poly1305,
    id: String,
    path: PathBuf,
    /// The content of the file.
    text: SecretString,
}

impl fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyFile").field("id", &self.id).field("path", &self.path).finish_non_exhaustive()
    }
}

/// A secret as it is stored.
pub(crate) struct Sealed {
    /// Nonce and ciphertext, base64.
    pub(crate) ciphertext: String,
    /// The key file that it was sealed with.
    pub(crate) key_id: String,
}

impl KeyFile {
    /// Reads the key file, or creates it.
    pub(crate) fn open(path: &Path) -> Result<KeyFile, StoreError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(text, path),
            Err(error) if error.kind() == ErrorKind::NotFound => Self::create(path),
            Err(error) => Err(setup(path, &format!("cannot be read: {error}"))),
        }
    }

    fn parse(mut text: String, path: &Path) -> Result<KeyFile, StoreError> {
        let bytes = STANDARD.decode(text.trim());
        let content = SecretString::from(format!("{}\n", text.trim()));
        text.zeroize();
        let mut key: [u8; KEY_SIZE] = bytes
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| setup(path, "does not hold a key of 32 bytes in base64; restore it from your backup"))?;
        let cipher = XChaCha20Poly1305::new(&key.into());
        let key_file = KeyFile { cipher, id: key_id(&key), path: path.to_owned(), text: content };
        key.zeroize();
        Ok(key_file)
    }

    /// Writes a random key. The file is linked into place as a whole: no process reads half of it,
    /// and two processes that start together use the same one.
    fn create(path: &Path) -> Result<KeyFile, StoreError> {
        let mut key = [0; KEY_SIZE];
        random(&mut key)?;
        let mut text = STANDARD.encode(key);
        text.push('\n');
        key.zeroize();
        let written = link_in_place(path, &text);
        text.zeroize();
        match written {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(setup(path, &format!("cannot be written: {error}")))
            }
            _ => {
                let text = std::fs::read_to_string(path);
                Self::parse(text.map_err(|error| setup(path, &format!("cannot be read: {error}")))?, path)
            }
        }
    }

    /// Identifies the key without revealing it.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file again if it was deleted: without it the stored secrets cannot be read.
    pub(crate) fn write_if_missing(&self) -> Result<(), StoreError> {
        match self.path.try_exists() {
            Ok(false) => link_in_place(&self.path, self.text.expose_secret())
                .map_err(|error| setup(&self.path, &format!("cannot be written: {error}"))),
            _ => Ok(()),
        }
    }

    /// Encrypts a secret of `owner`.
    pub(crate) fn seal(&self, owner: &str, secret: &SecretString) -> Result<Sealed, StoreError> {
        let mut nonce = [0; NONCE_SIZE];
        random(&mut nonce)?;
        let payload = Payload { msg: secret.expose_secret().as_bytes(), aad: owner.as_bytes() };
        let sealed = self.cipher.encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| StoreError::Setup("a secret could not be encrypted".to_owned()))?;
        let ciphertext = STANDARD.encode([nonce.as_slice(), &sealed].concat());
        Ok(Sealed { ciphertext, key_id: self.id.clone() })
    }

    /// Decrypts a secret of `owner`, which only works for the owner it was sealed for.
    pub(crate) fn open_sealed(&self, owner: &str, sealed: &Sealed) -> Result<SecretString, StoreError> {
        if sealed.key_id != self.id {
            return Err(self.wrong_key(owner, "was encrypted with another key file"));
        }
        let damaged = || self.wrong_key(owner, "is damaged");
        let bytes = STANDARD.decode(&sealed.ciphertext).map_err(|_| damaged())?;
        let (nonce, ciphertext) = bytes.split_first_chunk::<NONCE_SIZE>().ok_or_else(damaged)?;
        let payload = Payload { msg: ciphertext, aad: owner.as_bytes() };
        let key = self.cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| damaged())?;
        String::from_utf8(key).map(SecretString::from).map_err(|_| damaged())
    }

    fn wrong_key(&self, owner: &str, why: &str) -> StoreError {
        StoreError::Setup(format!(
            "the secret stored for {owner} {why}: restore {} from your backup, or store it again",
            self.path.display()
        ))
    }
}

fn setup(path: &Path, what: &str) -> StoreError {
    StoreError::Setup(format!("the key file {} {what}", path.display()))
}

fn random(bytes: &mut [u8]) -> Result<(), StoreError> {
    getrandom::fill(bytes).map_err(|error| StoreError::Setup(format!("the system gives no random bytes: {error}")))
}

/// Identifies a key without revealing it: a fixed text, encrypted.
fn key_id(key: &[u8; KEY_SIZE]) -> String {
    let cipher = XChaCha20Poly1305::new(&(*key).into());
    let tag = cipher.encrypt(&XNonce::from([0; NONCE_SIZE]), b"agentgazer key id".as_slice()).unwrap_or_default();
    tag.iter().rev().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file as a whole, unless there is one.
fn link_in_place(path: &Path, text: &str) -> std::io::Result<()> {
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    let written = write_private(&fresh, text.as_bytes()).and_then(|()| std::fs::hard_link(&fresh, path));
    let _ = std::fs::remove_file(&fresh);
    written
}

/// Writes a file that only its owner can read, and makes sure that it is on disk.
fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
