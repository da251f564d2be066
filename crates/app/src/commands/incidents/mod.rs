//! `incidents`: lists incidents, shows one with its evidence, records feedback, deletes one.

mod shown;

use http::Method;
use model::{Action, ActivatedBy, Counting, Cycle, NanoUsd};
use serde::Deserialize;
use serde_json::json;

use super::agents::agent_id;
use super::client;
use crate::cli::{FeedbackArg, IncidentsArgs};
use crate::client;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;

/// The fields of an incident that are shown.
#[derive(Deserialize)]
struct Incident {
    id: String,
    agent_id: String,
    timestamp: String,
    provider: Option<String>,
    model: Option<String>,
    action: Action,
    score: f64,
    threshold: f64,
    window_size: u64,
    counting: Counting,
    window: String,
    signals: Signals,
    state: String,
    stuck_since: Option<String>,
    stuck_calls: u64,
    cycle: Option<Cycle>,
    loop_cost_usd: Option<NanoUsd>,
    loop_cost_per_hour_usd: Option<NanoUsd>,
    refused: u64,
    closed_at: Option<String>,
    closed_by: Option<ActivatedBy>,
    feedback: Option<String>,
}

#[derive(Deserialize)]
struct Signals {
    similar_prompts: Signal,
    similar_responses: Signal,
    repeated_tool_calls: Signal,
}

#[derive(Deserialize)]
struct Signal {
    count: u64,
    weight: f64,
    score: f64,
}

/// The fields of one call of the evidence that are shown.
#[derive(Deserialize)]
struct Evidence {
    call_id: String,
    timestamp: Option<String>,
    matched: Vec<String>,
    alike: Vec<Likeness>,
    prompt: Option<String>,
    response: Option<String>,
    request_chars: u64,
    response_chars: u64,
    truncated: bool,
}

/// The later call that a call is similar to.
#[derive(Deserialize)]
struct Likeness {
    by: String,
    call_id: String,
    distance: Option<u32>,
}

/// `incidents [ID]`.
pub fn incidents(args: &IncidentsArgs) -> Result<(), Failure> {
    let Some(id) = &args.id else { return list(args) };
    let path = format!("/api/incidents/{}", incident_id(id)?);
    match args.feedback {
        Some(feedback) => give_feedback(args, &path, feedback),
        None if args.delete => delete(args, &path),
        None => show(args, &path),
    }
}

/// Checks the id of an incident before it becomes part of a path.
pub(super) fn incident_id(id: &str) -> Result<&str, Failure> {
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(Failure::new(Exit::Usage, format!("{id:?} is no id of an incident")));
    }
    Ok(id)
}

fn list(args: &IncidentsArgs) -> Result<(), Failure> {
    let query = match &args.agent {
        Some(agent) => format!("&agent={}", client::percent_encoded(agent_id(agent)?.as_str())),
        None => String::new(),
    };
    let items = on_one_thread(async { client(&args.server)?.list("/api/incidents", &query).await })?;
    if args.server.json {
        return print::json_list(&items);
    }
    let rows = items.iter().map(|item| Ok(row(client::read(item.get())?))).collect::<Result<_, Failure>>()?;
    let header = ["TIME (UTC)", "AGENT", "SCORE", "STATE", "INCIDENT"];
    print::table(&header, rows, "No incidents.")
}

fn row(incident: Incident) -> Vec<String> {
    vec![
        print::time(&incident.timestamp),
        incident.agent_id,
        format!("{:.1}/{:.1}", incident.score, incident.threshold),
        incident.state,
        incident.id,
    ]
}

fn give_feedback(args: &IncidentsArgs, path: &str, feedback: FeedbackArg) -> Result<(), Failure> {
    let (word, said) = match feedback {
        FeedbackArg::Loop => ("loop", "a loop"),
        FeedbackArg::FalseAlarm => ("false_alarm", "a false alarm; `agentgazer exemptions AGENT` can let it pass"),
    };
    let (path, body) = (format!("{path}/feedback"), json!({ "feedback": word }));
    let answer = on_one_thread(async { client(&args.server)?.change(Method::POST, &path, &body).await })?;
    if args.server.json {
        return print::json(&answer);
    }
    print::line(&format!("Kept: it was {said}."))
}

fn delete(args: &IncidentsArgs, path: &str) -> Result<(), Failure> {
    on_one_thread(async { client(&args.server)?.delete(path).await })?;
    print::line("Deleted, its evidence with it. The agent stays as it is.")
}

fn show(args: &IncidentsArgs, path: &str) -> Result<(), Failure> {
    let (incident, evidence) = on_one_thread(async {
        let client = client(&args.server)?;
        Ok((client.get(path).await?, client.items(&format!("{path}/evidence")).await?))
    })?;
    if args.server.json {
        return print::json(&with_evidence(&incident, &print::json_array(&evidence)));
    }
    let calls = evidence.iter().map(|call| client::read(call.get())).collect::<Result<Vec<Evidence>, Failure>>()?;
    print::line(&shown::summary(&client::read(&incident)?))?;
    print::line(&shown::last_words(&calls, print::width()))?;
    let header = ["NO", "TIME (UTC)", "MATCHED (DISTANCE)", "REQUEST", "RESPONSE", "CALL"];
    let rows = (0..calls.len()).map(|place| shown::evidence_row(&calls, place)).collect();
    print::table(&header, rows, "No evidence was kept.")
}

/// The incident as raw JSON, with its evidence as a further field.
fn with_evidence(incident: &str, evidence: &str) -> String {
    let open = incident.trim_end().strip_suffix('}').unwrap_or(incident);
    format!(r#"{open},"evidence":{evidence}}}"#)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    pub(super) const INCIDENT: &str = r#"{"id":"0190","agent_id":"import-fixer","timestamp":"2026-01-01T00:00:00.000Z","provider":"openai",
        "model":"gpt\u001b[1m","action":"deactivate","score":13.0,"threshold":10.0,"window_size":20,"counting":"adaptive",
        "window":"agent","state":"open","stuck_since":"2025-12-31T23:59:00.000Z","stuck_calls":6,
        "cycle":{"period":1,"laps":6},"loop_cost_usd":0.05,"loop_cost_per_hour_usd":3.0,"refused":412,"closed_at":null,
        "closed_by":null,"feedback":null,"evidence_count":6,"signals":{
        "similar_prompts":{"count":5,"weight":1.0,"score":5.0},"similar_responses":{"count":4,"weight":2.0,"score":8.0},
        "repeated_tool_calls":{"count":0,"weight":1.5,"score":0.0}}}"#;

    #[test]
    fn an_incident_is_one_row() {
        let cells = row(serde_json::from_str(INCIDENT).unwrap());
        let expected = ["2026-01-01 00:00:00", "import-fixer", "13.0/10.0", "open", "0190"];
        assert_eq!(cells, expected);
    }

    #[test]
    fn evidence_is_one_more_field_of_the_incident() {
        assert_eq!(with_evidence("{\"id\":\"1\"}\n", "[{}]"), r#"{"id":"1","evidence":[{}]}"#);
    }
}
