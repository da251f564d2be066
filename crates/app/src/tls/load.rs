//! Loads certificate, key and client authorities. Every error names the setting.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{Error, RootCertStore, ServerConfig};

use super::TlsFiles;
use super::validity::Validity;

/// The protocols that are offered, the preferred one first.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The content of the files.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) proxy: Arc<ServerConfig>,
    pub(super) dashboard: Arc<ServerConfig>,
    /// `None` if the certificate's dates are unreadable.
    pub(super) validity: Option<Validity>,
}

/// A file that cannot be used.
#[derive(Debug)]
pub(crate) struct TlsMistake {
    /// The setting that names it.
    pub(crate) key: &'static str,
    /// What is wrong, without the path.
    why: String,
    path: PathBuf,
}

impl TlsMistake {
    /// What is wrong, without the setting.
    pub(crate) fn message(&self) -> String {
        format!("{}: {}", self.why, self.path.display())
    }

    /// The setting and what is wrong.
    pub(super) fn without_path(&self) -> String {
        format!("{} {}", self.key, self.why)
    }
}

impl fmt::Display for TlsMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.key, self.message())
    }
}

impl Loaded {
    pub(super) fn read(files: &TlsFiles) -> Result<Loaded, TlsMistake> {
        let chain = certificates("tls.certificate", &files.certificate)?;
        let key = private_key(&files.key)?;
        let validity = chain.first().and_then(|certificate| Validity::read(certificate));
        let provider = Arc::new(aws_lc_rs::default_provider());
        let clients = files.client_ca.as_deref().map(|path| client_verifier(path, &provider)).transpose()?;
        let dashboard = server_config(&provider, files, None, (chain.clone(), key.clone_key()))?;
        let proxy = match clients {
            Some(clients) => server_config(&provider, files, Some(clients), (chain, key))?,
            None => Arc::clone(&dashboard),
        };
        Ok(Loaded { proxy, dashboard, validity })
    }
}

/// The certificates in a file, at least one.
fn certificates(key: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsMistake> {
    let mistake = |why: String| TlsMistake { key, why, path: path.to_owned() };
    let text = std::fs::read(path).map_err(|error| mistake(format!("cannot be read ({error})")))?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let certificates = read.map_err(|error| mistake(format!("must be certificates in PEM ({error})")))?;
    if certificates.is_empty() {
        return Err(mistake("must hold a certificate in PEM (-----BEGIN CERTIFICATE-----)".to_owned()));
    }
    Ok(certificates)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsMistake> {
    let mistake = |why: String| TlsMistake { key: "tls.key", why, path: path.to_owned() };
    let text = std::fs::read(path).map_err(|error| mistake(format!("cannot be read ({error})")))?;
    let is_encrypted = text.windows(21).any(|part| part == b"ENCRYPTED PRIVATE KEY");
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| {
        mistake(match is_encrypted {
            true => "must be a key without a passphrase".to_owned(),
            false => "must hold a private key in PEM (-----BEGIN PRIVATE KEY-----)".to_owned(),
        })
    })
}

/// Accepts client certificates of the authorities in a file.
fn client_verifier(path: &Path, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>, TlsMistake> {
    const KEY: &str = "tls.client_ca";
    let mistake = |error: &dyn fmt::Display| TlsMistake {
        key: KEY,
        why: format!("must hold certificates of authorities ({error})"),
        path: path.to_owned(),
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(KEY, path)? {
        roots.add(certificate).map_err(|error| mistake(&error))?;
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    verifier.build().map_err(|error| mistake(&error))
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn server_config(
    provider: &Arc<CryptoProvider>,
    files: &TlsFiles,
    clients: Option<Arc<dyn ClientCertVerifier>>,
    (chain, key): Identity,
) -> Result<Arc<ServerConfig>, TlsMistake> {
    let mistake = |error: Error| match error {
        Error::InconsistentKeys(_) => {
            let why = "does not belong to the certificate of tls.certificate".to_owned();
            TlsMistake { key: "tls.key", why, path: files.key.clone() }
        }
        error => {
            let why = format!("cannot be used with tls.key ({error})");
            TlsMistake { key: "tls.certificate", why, path: files.certificate.clone() }
        }
    };
    let builder = ServerConfig::builder_with_provider(Arc::clone(provider)).with_safe_default_protocol_versions();
    let builder = builder.map_err(mistake)?;
    let builder = match clients {
        Some(clients) => builder.with_client_cert_verifier(clients),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(chain, key).map_err(mistake)?;
    config.alpn_protocols = ALPN.map(<[u8]>::to_vec).to_vec();
    Ok(Arc::new(config))
}
