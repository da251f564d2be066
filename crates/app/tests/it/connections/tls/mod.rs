//! TLS on both listeners, with certificates of `agentgazer tls dev`.

mod client;
mod commands;
mod http2;
mod http2_limits;
mod reload;
mod start;

use std::path::{Path, PathBuf};

use fake_provider::FakeProvider;
use tempfile::TempDir;

use crate::support::{Http, Server, ServerBuilder, run};
use client::client_config;

/// Certificates in their own directory.
pub(super) struct Certificates(TempDir);

impl Certificates {
    pub(super) fn new() -> Certificates {
        let folder = tempfile::tempdir().unwrap();
        let made = run(&["tls", "dev", "--out", folder.path().join("tls").to_str().unwrap(), "--host", "gazer.test"]);
        assert!(made.said().contains("AGENTGAZER_TLS_CERTIFICATE="), "{made:?}");
        Certificates(folder)
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.0.path().join("tls")
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// The flags of a server that uses them.
    pub(super) fn flags(&self) -> Vec<String> {
        let set = |key: &str, name: &str| format!("tls.{key}={}", self.file(name).display());
        let files = [set("certificate", "certificate.pem"), set("key", "key.pem")];
        files.into_iter().flat_map(|setting| ["--set".to_owned(), setting]).collect()
    }

    /// A server that uses them.
    pub(super) fn server(&self, provider: &FakeProvider, more: &[&str]) -> Server {
        let flags = self.flags();
        let flags: Vec<&str> = flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let http = Http::with_tls(client_config(&[self], false));
        ServerBuilder::new(&provider.url()).http(http).arguments(&flags).start()
    }
}

/// The authority of some certificates.
pub(super) fn authority(certificates: &Certificates) -> String {
    text_of(&certificates.file("ca.pem"))
}

fn text_of(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
