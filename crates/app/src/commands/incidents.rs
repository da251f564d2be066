//! `incidents`: lists them, or shows one with its evidence.

use model::{Action, Counting};
use serde::Deserialize;

use super::agents::agent_id;
use super::{client, on_one_thread, print};
use crate::cli::IncidentsArgs;
use crate::client;
use crate::exit::{Exit, Failure};

/// What is shown of an incident.
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
    feedback: Option<String>,
    evidence_count: u64,
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

/// What is shown of one call of the evidence.
#[derive(Deserialize)]
struct Evidence {
    call_id: String,
    timestamp: Option<String>,
    matched: Vec<String>,
    request_chars: Option<u64>,
    response_chars: Option<u64>,
    truncated: bool,
}

/// `incidents [ID]`.
pub fn incidents(args: &IncidentsArgs) -> Result<(), Failure> {
    match &args.id {
        Some(id) => show(args, id),
        None => list(args),
    }
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
    let header = ["INCIDENT", "AGENT", "TIME", "SCORE", "ACTION", "STATE", "EVIDENCE"];
    print::table(&header, rows, "No incidents.")
}

fn row(incident: Incident) -> Vec<String> {
    vec![
        incident.id,
        incident.agent_id,
        incident.timestamp,
        format!("{:.1}/{:.1}", incident.score, incident.threshold),
        incident.action.as_str().to_owned(),
        incident.state,
        format!("{} calls", incident.evidence_count),
    ]
}

fn show(args: &IncidentsArgs, id: &str) -> Result<(), Failure> {
    if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(Failure::new(Exit::Usage, format!("{id:?} is no id of an incident")));
    }
    let (incident, evidence) = on_one_thread(async {
        let client = client(&args.server)?;
        let path = format!("/api/incidents/{id}");
        Ok((client.get(&path).await?, client.items(&format!("{path}/evidence")).await?))
    })?;
    if args.server.json {
        return print::json(&with_evidence(&incident, &print::json_array(&evidence)));
    }
    print::line(&summary(&client::read(&incident)?))?;
    let rows =
        evidence.iter().map(|call| Ok(evidence_row(client::read(call.get())?))).collect::<Result<_, Failure>>()?;
    let header = ["CALL", "TIME", "MATCHED", "REQUEST", "RESPONSE", ""];
    print::table(&header, rows, "No evidence was kept.")
}

/// The incident as the server wrote it, with its evidence as one more field.
fn with_evidence(incident: &str, evidence: &str) -> String {
    let open = incident.trim_end().strip_suffix('}').unwrap_or(incident);
    format!(r#"{open},"evidence":{evidence}}}"#)
}

fn summary(incident: &Incident) -> String {
    let Incident { id, agent_id, timestamp, score, threshold, window, window_size, state, .. } = incident;
    let signal = |name: &str, signal: &Signal| {
        format!("  {name:<20}{:>4} × {:.1} = {:>6.1}", signal.count, signal.weight, signal.score)
    };
    let asked = [incident.provider.as_deref(), incident.model.as_deref()].into_iter().flatten().collect::<Vec<_>>();
    let lines = [
        format!("Incident {id} ({state})"),
        format!("  {agent_id}, {timestamp}, {}", asked.join(" ")),
        format!("  score {score:.1} over the threshold {threshold:.1}, {window} window of {window_size} calls"),
        format!("  action {}, counting {}", incident.action.as_str(), incident.counting.as_str()),
        format!("  feedback {}", incident.feedback.as_deref().unwrap_or("none")),
        signal("similar prompts", &incident.signals.similar_prompts),
        signal("similar responses", &incident.signals.similar_responses),
        signal("repeated tool calls", &incident.signals.repeated_tool_calls),
    ];
    lines.map(|line| crate::text::printable(&line)).join("\n")
}

fn evidence_row(call: Evidence) -> Vec<String> {
    let characters = |count: Option<u64>| count.map(|count| format!("{count} chars")).unwrap_or_default();
    vec![
        call.call_id,
        call.timestamp.unwrap_or_default(),
        call.matched.join(", "),
        characters(call.request_chars),
        characters(call.response_chars),
        if call.truncated { "cut".to_owned() } else { String::new() },
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    const INCIDENT: &str = r#"{"id":"0190","agent_id":"import-fixer","timestamp":"2026-01-01T00:00:00.000Z","provider":"openai",
        "model":"gpt\u001b[1m","action":"deactivate","score":13.0,"threshold":10.0,"window_size":20,"counting":"adaptive",
        "window":"agent","state":"open","feedback":null,"evidence_count":6,"signals":{
        "similar_prompts":{"count":5,"weight":1.0,"score":5.0},"similar_responses":{"count":4,"weight":2.0,"score":8.0},
        "repeated_tool_calls":{"count":0,"weight":1.5,"score":0.0}}}"#;

    #[test]
    fn an_incident_is_one_row() {
        let cells = row(serde_json::from_str(INCIDENT).unwrap());
        let expected =
            ["0190", "import-fixer", "2026-01-01T00:00:00.000Z", "13.0/10.0", "deactivate", "open", "6 calls"];
        assert_eq!(cells, expected);
    }

    #[test]
    fn an_incident_says_how_its_score_is_made() {
        let summary = summary(&serde_json::from_str(INCIDENT).unwrap());
        insta::assert_snapshot!(summary, @r"
        Incident 0190 (open)
          import-fixer, 2026-01-01T00:00:00.000Z, openai gpt[1m
          score 13.0 over the threshold 10.0, agent window of 20 calls
          action deactivate, counting adaptive
          feedback none
          similar prompts        5 × 1.0 =    5.0
          similar responses      4 × 2.0 =    8.0
          repeated tool calls    0 × 1.5 =    0.0
        ");
    }

    #[test]
    fn evidence_is_one_more_field_of_the_incident() {
        assert_eq!(with_evidence("{\"id\":\"1\"}\n", "[{}]"), r#"{"id":"1","evidence":[{}]}"#);
    }
}
