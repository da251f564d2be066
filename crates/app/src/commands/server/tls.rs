//! `tls dev`: makes certificates for trying TLS.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use anyhow::Context;

use crate::cli::{TlsArgs, TlsCommand, TlsDevArgs};
use crate::config;
use crate::config::Entry;
use crate::data_dir;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::text::shell_word;
use crate::tls::local_ca;

/// `tls`.
pub fn tls(args: &TlsArgs) -> Result<(), Failure> {
    match &args.command {
        TlsCommand::Dev(args) => dev(args),
    }
}

fn dev(args: &TlsDevArgs) -> Result<(), Failure> {
    let flags = args.data_dir.iter().map(|directory| Entry::flag("--data-dir", "data_dir", directory)).collect();
    let place = match &args.out {
        Some(place) => place.clone(),
        None => config::load(args.config.clone(), flags)?.data_dir.join(data_dir::TLS),
    };
    let place = std::path::absolute(&place)?;
    if place.join(local_ca::AUTHORITY).exists() {
        let place = place.display();
        let message = format!("{place} holds certificates already: delete it to make new ones, or use --out DIR");
        return Err(Failure::new(Exit::Refused, message));
    }
    let mut directory = DirBuilder::new();
    let made = directory.recursive(true).mode(0o700).create(&place);
    made.with_context(|| format!("{} cannot be made", place.display()))?;
    local_ca::write(&place, &args.hosts)?;
    print::line(&next_steps(&place))
}

fn next_steps(place: &Path) -> String {
    let file = |name: &str| shell_word(&place.join(name).to_string_lossy());
    format!(
        "Certificates for 397 days are in {place}. Only this user can read them. Start the server with them:\n\n\
         \x20 export AGENTGAZER_TLS_CERTIFICATE={certificate}\n\
         \x20 export AGENTGAZER_TLS_KEY={key}\n\
         \x20 agentgazer start\n\n\
         Let clients trust it:\n\n\
         \x20 Python   export SSL_CERT_FILE={ca}\n\
         \x20 Node     export NODE_EXTRA_CA_CERTS={ca}\n\
         \x20 curl     curl --cacert {ca} …\n\
         \x20 browser  import {ca} as an authority\n\n\
         To let only agents with a certificate call, set AGENTGAZER_TLS_CLIENT_CA={ca} too, and give agents\n\
         {client} with {client_key}.",
        place = place.display(),
        certificate = file(local_ca::CERTIFICATE),
        key = file(local_ca::KEY),
        ca = file(local_ca::AUTHORITY),
        client = file(local_ca::CLIENT_CERTIFICATE),
        client_key = file(local_ca::CLIENT_KEY),
    )
}
