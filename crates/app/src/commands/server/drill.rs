//! `drill`: rehearses a kill and prints what was delivered.

use serde_json::json;

use crate::cli::DrillArgs;
use crate::client::Http;
use crate::commands::{client, resolve_for_client, trust};
use crate::data_dir::Addresses;
use crate::drill::{DrillOutcome, Line, lines, rehearse, verdict};
use crate::exit::{Exit, Failure};
use crate::runtime::on_one_thread;
use crate::tls::{ClientIdentity, Trust};
use crate::{print, text};

/// `drill`.
pub fn drill(args: &DrillArgs) -> Result<(), Failure> {
    on_one_thread(async {
        let client = client(&args.server)?;
        let (proxy, trust) = proxy_url(args)?;
        let files = args.client_cert.as_deref().zip(args.client_key.as_deref());
        let identity = files.map(|(certificate, key)| ClientIdentity { certificate, key });
        let http = Http::with_identity(&trust, identity).map_err(|error| Failure { exit: Exit::Usage, error })?;
        report(&rehearse(client, http, proxy).await?, args.server.json)
    })
}

/// The proxy's address and the certificates to trust there.
fn proxy_url(args: &DrillArgs) -> Result<(String, Trust), Failure> {
    if let Some(url) = &args.proxy_url {
        return Ok((url.trim_end_matches('/').to_owned(), trust(&args.server, None)));
    }
    let config = resolve_for_client(&args.server)?;
    let addresses = Addresses::read(&config.data_dir);
    let trust = trust(&args.server, addresses.as_ref());
    addresses.map(|addresses| (addresses.proxy, trust)).ok_or_else(|| {
        let why = "no server was started on this data directory: say where its proxy is with --proxy-url";
        Failure::new(Exit::Unreachable, why)
    })
}

fn report(held: &DrillOutcome, as_json: bool) -> Result<(), Failure> {
    let lines = lines(held);
    let DrillOutcome { calls, killed_in, incident, activated, links, .. } = held;
    if as_json {
        let report = json!({
            "calls": calls, "killed_in_ms": killed_in.as_millis() as u64, "incident_id": incident, "activated": activated,
            "channels": lines, "public_url": links.public_url, "links_are_local": links.links_are_local,
        });
        print::json(&report.to_string())?;
    } else {
        print::line(&format!("killed      at call {calls}, answered in {:.0} ms", killed_in.as_secs_f64() * 1000.0))?;
        print::line(&format!("incident    {}", text::printable(incident)))?;
        let rows = lines.iter().map(row).collect();
        print::table(&["CHANNEL", "KIND", "STATE", "AFTER", "ANSWER"], rows, "No channels: no one was notified.")?;
        print::line(if *activated {
            "activated   its calls went through again; the drill's agent is gone"
        } else {
            "NOT activated"
        })?;
        if links.links_are_local {
            print::line(&format!(
                "links       lead to {}, which only this machine can open: set public_url (AGENTGAZER_PUBLIC_URL)",
                text::printable(&links.public_url)
            ))?;
        }
    }
    verdict(&lines, *activated)
}

fn row(line: &Line) -> Vec<String> {
    let after = line.after_ms.map(|ms| format!("{ms} ms")).unwrap_or_default();
    vec![line.channel.clone(), line.kind.clone(), line.state.clone(), after, text::shortened(&line.answer, 60)]
}
