//! A local certificate authority for trying TLS: its certificate, one for the server and one for an
//! agent.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use model::Clock;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};

use crate::atomic_file::write_atomically;

/// Browsers refuse certificates that are valid for more than 398 days.
const DAYS: u32 = 397;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The names of the files in the directory.
pub(crate) const AUTHORITY: &str = "ca.pem";
pub(crate) const CERTIFICATE: &str = "certificate.pem";
pub(crate) const KEY: &str = "key.pem";
pub(crate) const CLIENT_CERTIFICATE: &str = "client.pem";
pub(crate) const CLIENT_KEY: &str = "client.key.pem";

/// Names in every server certificate.
const NAMES: [&str; 4] = ["localhost", "127.0.0.1", "::1", "host.docker.internal"];

/// Writes all files into `directory`, which exists. The authority's own key is not kept: it could
/// sign for any name, and is not needed again.
pub(crate) fn write(directory: &Path, more_names: &[String]) -> anyhow::Result<()> {
    let (authority, issuer) = authority()?;
    let names: Vec<String> = NAMES.into_iter().map(str::to_owned).chain(more_names.iter().cloned()).collect();
    let server = signed(names, "AgentGazer", ExtendedKeyUsagePurpose::ServerAuth, &issuer)?;
    let client = signed(Vec::new(), "AgentGazer agent", ExtendedKeyUsagePurpose::ClientAuth, &issuer)?;
    let files = [
        (AUTHORITY, authority),
        (CERTIFICATE, server.0),
        (KEY, server.1),
        (CLIENT_CERTIFICATE, client.0),
        (CLIENT_KEY, client.1),
    ];
    files.into_iter().try_for_each(|(name, text)| write_atomically(&directory.join(name), text.as_bytes()))
}

fn authority() -> anyhow::Result<(String, Issuer<'static, KeyPair>)> {
    let mut params = params(Vec::new(), "AgentGazer local authority")?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?.pem();
    Ok((certificate, Issuer::new(params, key)))
}

/// A certificate and its key.
fn signed(
    names: Vec<String>,
    title: &str,
    purpose: ExtendedKeyUsagePurpose,
    issuer: &Issuer<'_, KeyPair>,
) -> anyhow::Result<(String, String)> {
    let mut params = params(names, title)?;
    params.extended_key_usages = vec![purpose];
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, issuer)?;
    Ok((certificate.pem(), key.serialize_pem()))
}

fn params(names: Vec<String>, title: &str) -> anyhow::Result<CertificateParams> {
    let mut params = CertificateParams::new(names).context("a name that no certificate can hold")?;
    params.distinguished_name.push(DnType::CommonName, title);
    let millis = u64::try_from(Clock::System.now().as_millis()).unwrap_or_default();
    let now = date_time_ymd(1970, 1, 1) + Duration::from_millis(millis);
    // A day earlier, for machines whose clocks differ.
    params.not_before = now - DAY;
    params.not_after = now + DAY * (DAYS - 1);
    Ok(params)
}
