//! `export`: writes recordings in the form that `replay` reads. Only calls of incidents have
//! bodies; all other calls have fingerprints, which can be judged again but not read.

use std::io::Write;

use model::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use store::{EvidenceRow, Feedback, IncidentFilter, IncidentRow, PageRequest, Store, StoreConfig};

use super::recorded_body;
use crate::cli::ExportArgs;
use crate::commands::agents::agent_id;
use crate::config;
use crate::config::Entry;
use crate::exit::{Exit, Failure};
use crate::runtime::on_one_thread;

/// An incident as a run.
#[derive(Serialize)]
struct IncidentRun {
    id: String,
    agent_id: String,
    #[serde(flatten)]
    labels: Labels,
    calls: Vec<Call>,
}

/// The feedback on it, in the words of recordings.
#[derive(Serialize)]
struct Labels {
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
}

#[derive(Serialize)]
struct Call {
    request: Box<RawValue>,
    response: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<Timestamp>,
    /// Samples of one request cause no incident, so no call here is one.
    sample: bool,
}

/// The calls of an agent between two activations as a run.
#[derive(Serialize)]
struct EpochRun {
    id: String,
    agent_id: String,
    fingerprints: Vec<String>,
}

/// `export`.
pub fn export(args: &ExportArgs) -> Result<(), Failure> {
    let agent = args.agent.as_deref().map(agent_id).transpose()?;
    let flags = args.data_dir.iter().map(|place| Entry::flag("--data-dir", "data_dir", place));
    let config = config::load(args.config.clone(), flags.collect())?;
    let postgres = config.postgres()?;
    let database = config.data_dir.join("agentgazer.db");
    if postgres.is_none() && !database.exists() {
        let place = config.data_dir.display();
        return Err(Failure::new(
            Exit::NotFound,
            format!("nothing was recorded in {place}: say where with --data-dir"),
        ));
    }
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    on_one_thread(async {
        let store_config = StoreConfig { postgres, ..StoreConfig::new(&config.data_dir, config.key_file()) };
        let store = Store::open(store_config).await?;
        match args.fingerprints {
            true => epochs(&store, agent.as_ref(), &mut output).await?,
            false => incidents(&store, IncidentFilter { agent, ..IncidentFilter::default() }, &mut output).await?,
        }
        Ok(output.flush()?)
    })
}

async fn epochs(store: &Store, agent: Option<&model::AgentId>, output: &mut impl Write) -> Result<(), Failure> {
    for (agent, epoch) in store.recorded_epochs(agent).await? {
        let recorded = store.recorded_epoch(agent, epoch).await?;
        let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        write_line(
            output,
            &EpochRun {
                id: format!("{}/{}", recorded.agent, recorded.epoch.0),
                agent_id: recorded.agent.to_string(),
                fingerprints: recorded.fingerprints.iter().map(hex).collect(),
            },
        )?;
    }
    Ok(())
}

async fn incidents(store: &Store, filter: IncidentFilter, output: &mut impl Write) -> Result<(), Failure> {
    let mut page = PageRequest { limit: PageRequest::MAX_LIMIT, cursor: None };
    loop {
        let found = store.incidents(&filter, &page).await?;
        for incident in &found.items {
            let evidence = store.evidence(incident.id).await?;
            write_line(output, &run_of(incident, evidence))?;
        }
        match found.next {
            Some(cursor) => page.cursor = Some(cursor),
            None => return Ok(()),
        }
    }
}

fn run_of(incident: &IncidentRow, evidence: Vec<EvidenceRow>) -> IncidentRun {
    let (label, verdict) = match incident.feedback {
        Some(Feedback::Loop) => (Some("loop"), Some("loop")),
        Some(Feedback::FalseAlarm) => (Some("ok"), Some("legit")),
        None => (None, None),
    };
    IncidentRun {
        id: incident.id.to_string(),
        agent_id: incident.agent.to_string(),
        labels: Labels { label, verdict },
        calls: evidence.into_iter().filter_map(call_of).collect(),
    }
}

/// `None` if its request is not kept unchanged, so nothing can be read from it.
fn call_of(row: EvidenceRow) -> Option<Call> {
    let request = recorded_body::request(row.evidence.request_body.as_deref()?)?;
    let response = row.evidence.response_body.as_deref().and_then(recorded_body::answer);
    Some(Call { request, response, timestamp: row.evidence.time, sample: false })
}

fn write_line(output: &mut impl Write, run: &impl Serialize) -> Result<(), Failure> {
    serde_json::to_writer(&mut *output, run)?;
    Ok(output.write_all(b"\n")?)
}
