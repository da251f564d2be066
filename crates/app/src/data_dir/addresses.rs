//! The addresses of a running server, for other commands.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::SERVER;
use crate::atomic_file::write_atomically;
use crate::tls::Trust;

/// The addresses of a running server, as written to `server.json` and to the ready file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Addresses {
    /// The address of the proxy.
    pub(crate) proxy: String,
    /// The address of dashboard and API.
    pub(crate) dashboard: String,
    /// The file with the certificate of both, if they use TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<PathBuf>,
}

impl Addresses {
    /// The certificates that a command trusts at these addresses.
    pub(crate) fn trust(&self) -> Trust {
        self.certificate.clone().map_or(Trust::System, Trust::Certificate)
    }

    /// The addresses of the server that was last started on the data directory `path`.
    pub(crate) fn read(path: &Path) -> Option<Addresses> {
        serde_json::from_slice(&std::fs::read(path.join(SERVER)).ok()?).ok()
    }

    /// Writes them to the file at `path` atomically.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        write_atomically(path, serde_json::to_string(self)?.as_bytes())
    }
}
