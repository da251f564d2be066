//! What replicas share, and the engine for it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use secrecy::SecretString;
use share::{OnFailure, Valkey, ValkeyServer};

use crate::config::contradictions::Contradiction;
use crate::config::value::Read;

/// What replicas share.
#[derive(Clone, Debug, Default)]
pub struct SharedConfig {
    /// The engine.
    pub engine: Engine,
    /// The address of Valkey.
    pub url: Option<SecretString>,
    /// A file with the password for it.
    pub password_file: Option<PathBuf>,
    /// A file with the authorities that may sign its certificate.
    pub ca: Option<PathBuf>,
    /// What happens to calls while the engine is unreachable.
    pub on_failure: OnFailure,
}

/// The engine that replicas share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// A single replica.
    #[default]
    Off,
    /// The PostgreSQL that holds the data.
    Postgres,
    /// Valkey or Redis, beside the PostgreSQL that holds the data.
    Valkey,
}

impl SharedConfig {
    /// The Valkey server, with the password and the authorities in their files.
    pub(crate) fn valkey(&self) -> anyhow::Result<ValkeyServer> {
        let read = |path: &PathBuf, key: &str| read(path).with_context(|| format!("{key} cannot be used"));
        let password = self.password_file.as_ref().map(|path| read(path, "shared.password_file")).transpose()?;
        let authorities = self.ca.as_ref().map(|path| read(path, "shared.ca")).transpose()?;
        Ok(ValkeyServer {
            url: self.url.clone().context("shared.url is not set")?,
            password: password.map(|text| text.trim_end_matches(['\r', '\n']).into()),
            authorities: authorities.map(String::into_bytes),
        })
    }

    /// Contradictions between settings. `has_server` is true if the data is in PostgreSQL.
    pub(in crate::config) fn contradictions(&self, has_server: bool) -> Vec<Contradiction> {
        let mut found = Vec::new();
        if self.engine != Engine::Off && !has_server {
            let message = "must be a PostgreSQL server, like postgres://user@host/database: replicas share their data";
            found.push(Contradiction { key: "database", other: "shared.engine", message: message.to_owned() });
        }
        if self.engine == Engine::Valkey && self.url.is_none() {
            let message = "must be set, like redis://host:6379".to_owned();
            found.push(Contradiction { key: "shared.url", other: "shared.engine", message });
        }
        let of_valkey = [
            ("shared.url", self.url.is_some()),
            ("shared.password_file", self.password_file.is_some()),
            ("shared.ca", self.ca.is_some()),
        ];
        for (other, _) in of_valkey.into_iter().filter(|(_, is_set)| *is_set && self.engine != Engine::Valkey) {
            let message = "must be \"valkey\": no other engine has a server of its own".to_owned();
            found.push(Contradiction { key: "shared.engine", other, message });
        }
        found
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}

pub(in crate::config) fn engine(text: &str) -> Read<Engine> {
    match text {
        "off" => Ok(Engine::Off),
        "postgres" => Ok(Engine::Postgres),
        "valkey" => Ok(Engine::Valkey),
        _ => Err("must be off, postgres or valkey".to_owned()),
    }
}

pub(in crate::config) fn url(text: &str) -> Read<SecretString> {
    // The text may contain a password, so it is not repeated.
    match Valkey::is_url(text) {
        true => Ok(text.into()),
        false => {
            Err("must be redis://host:6379 (rediss:// with TLS; valkey:// and valkeys:// are the same)".to_owned())
        }
    }
}

pub(in crate::config) fn on_failure(text: &str) -> Read<OnFailure> {
    match text {
        "degrade" => Ok(OnFailure::Degrade),
        "refuse" => Ok(OnFailure::Refuse),
        _ => Err("must be degrade or refuse".to_owned()),
    }
}
