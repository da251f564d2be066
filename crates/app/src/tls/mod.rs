//! TLS of both listeners: certificate and key come from files and are read again when these change.
//! If the new pair cannot be used, the earlier one stays.

mod load;
pub(crate) mod local_ca;
mod pinned;
mod reload;
mod validity;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use model::{Clock, Timestamp};
use rustls::ServerConfig;

pub(crate) use load::TlsMistake;
pub(crate) use pinned::{ClientIdentity, Trust};

use load::Loaded;

/// Warns this long before a certificate expires: two weeks.
const EXPIRES_SOON_MILLIS: i64 = 14 * 24 * 60 * 60 * 1000;

/// The TLS files, as far as they are set.
#[derive(Clone, Debug, Default)]
pub struct TlsConfig {
    /// The certificate with its chain, in PEM.
    pub certificate: Option<PathBuf>,
    /// The key of the certificate, in PEM.
    pub key: Option<PathBuf>,
    /// The authorities of the certificates that agents must present to the proxy, in PEM.
    pub client_ca: Option<PathBuf>,
}

impl TlsConfig {
    /// The files, if TLS is on.
    pub(crate) fn files(&self) -> Option<TlsFiles> {
        let (certificate, key) = (self.certificate.clone()?, self.key.clone()?);
        Some(TlsFiles { certificate, key, client_ca: self.client_ca.clone() })
    }

    /// The scheme of both listeners.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.certificate.is_some() { "https" } else { "http" }
    }
}

/// The files of a server with TLS.
#[derive(Clone, Debug)]
pub(crate) struct TlsFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) client_ca: Option<PathBuf>,
}

/// A listener of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Proxy,
    Dashboard,
}

/// The TLS state of both listeners. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Tls(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    files: TlsFiles,
    current: RwLock<Loaded>,
    /// Why the current files cannot be used.
    trouble: RwLock<Option<String>>,
}

/// The TLS state of one listener.
#[derive(Clone, Debug)]
pub(crate) struct ListenerTls {
    tls: Tls,
    side: Side,
}

impl ListenerTls {
    /// The configuration for the next connection.
    pub(crate) fn current(&self) -> Arc<ServerConfig> {
        let current = self.tls.0.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(match self.side {
            Side::Proxy => &current.proxy,
            Side::Dashboard => &current.dashboard,
        })
    }
}

impl Tls {
    /// Reads the files.
    pub(crate) fn load(files: TlsFiles) -> Result<Tls, TlsMistake> {
        let current = RwLock::new(Loaded::read(&files)?);
        Ok(Tls(Arc::new(Shared { files, current, trouble: RwLock::default() })))
    }

    /// For one of the listeners.
    pub(crate) fn listener(&self, side: Side) -> ListenerTls {
        ListenerTls { tls: self.clone(), side }
    }

    /// What a person must look at: files that cannot be used, or a certificate that has expired or
    /// soon will. Names no paths, because readiness is public.
    pub(crate) fn warnings(&self, now: Timestamp) -> Vec<String> {
        let trouble = self.0.trouble.read().unwrap_or_else(PoisonError::into_inner).clone();
        let trouble = trouble.map(|why| format!("the changed files cannot be used, the earlier ones hold: {why}"));
        let validity = self.0.current.read().unwrap_or_else(PoisonError::into_inner).validity;
        let validity = validity.and_then(|validity| validity.warning(now));
        trouble.into_iter().chain(validity).map(|warning| format!("tls: {warning}")).collect()
    }

    /// Logs the warnings about the certificate.
    pub(crate) fn log_warnings(&self) {
        for warning in self.warnings(Clock::System.now()) {
            tracing::warn!("{warning}");
        }
    }

    /// Reads the files again. If that fails, the earlier ones stay.
    fn read_again(&self) {
        let read = Loaded::read(&self.0.files);
        let mut trouble = self.0.trouble.write().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(loaded) => {
                *trouble = None;
                *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = loaded;
                drop(trouble);
                tracing::info!("the changed certificate is in use");
                self.log_warnings();
            }
            Err(mistake) => {
                tracing::warn!("the changed TLS files cannot be used, the earlier ones hold: {mistake}");
                *trouble = Some(mistake.without_path());
            }
        }
    }
}

#[cfg(test)]
mod tests;
