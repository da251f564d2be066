//! The server certificates that a command trusts. A command that finds its server in the data
//! directory trusts exactly the certificate named there, whatever its names: no one else can write
//! to that directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// The certificates that a command trusts.
#[derive(Clone, Debug, Default)]
pub(crate) enum Trust {
    /// Certificates of the machine's authorities.
    #[default]
    System,
    /// Certificates of the authorities in this file.
    Authorities(PathBuf),
    /// The first one in this file.
    Certificate(PathBuf),
}

impl Trust {
    /// The TLS configuration of a client that trusts these.
    pub(crate) fn client_config(&self) -> anyhow::Result<ClientConfig> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder =
            || ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        Ok(match self {
            Trust::System => egress::tls_config(),
            Trust::Authorities(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    let added = roots.add(certificate);
                    added.with_context(|| format!("{} must hold certificates of authorities", path.display()))?;
                }
                builder()?.with_root_certificates(roots).with_no_client_auth()
            }
            Trust::Certificate(path) => {
                let pinned = certificates(path)?.swap_remove(0);
                let verifier = Arc::new(Pinned { certificate: pinned, provider: Arc::clone(&provider) });
                builder()?.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
            }
        })
    }
}

/// The files of the certificate that a client shows, and of its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientIdentity<'a> {
    pub(crate) certificate: &'a Path,
    pub(crate) key: &'a Path,
}

impl ClientIdentity<'_> {
    /// Shows the certificate to servers that ask for one.
    pub(crate) fn add_to(self, config: &mut ClientConfig) -> anyhow::Result<()> {
        let chain = certificates(self.certificate)?;
        let key = PrivateKeyDer::from_pem_file(self.key);
        let key = key.with_context(|| format!("{} must be a key in PEM", self.key.display()))?;
        let certified = CertifiedKey::from_der(chain, key, config.crypto_provider());
        let certified = certified
            .with_context(|| format!("{} must be the key of {}", self.key.display(), self.certificate.display()))?;
        config.client_auth_cert_resolver = Arc::new(SingleCertAndKey::from(certified));
        Ok(())
    }
}

fn certificates(path: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let text = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let certificates = certificates.with_context(|| format!("{} must be certificates in PEM", path.display()))?;
    ensure!(!certificates.is_empty(), "{} must hold a certificate in PEM", path.display());
    Ok(certificates)
}

/// Accepts one certificate only. The signature of the handshake proves that the server has its key.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match *end_entity == self.certificate {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure)),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
