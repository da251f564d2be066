//! Which server a command trusts. A command that finds its server in the data directory trusts
//! exactly the certificate that is named there, whatever names it holds: nobody else can write to
//! that directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

/// The certificates that a command trusts.
#[derive(Clone, Debug, Default)]
pub(crate) enum Trust {
    /// Those of the authorities that the machine trusts.
    #[default]
    System,
    /// Those of the authorities in this file.
    Authorities(PathBuf),
    /// The first one in this file.
    Certificate(PathBuf),
}

impl Trust {
    /// TLS of a client that trusts these.
    pub(crate) fn client_config(&self) -> anyhow::Result<ClientConfig> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder =
            || ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        Ok(match self {
            Trust::System => alerts::tls_config(),
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
