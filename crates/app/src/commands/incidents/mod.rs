//! `incidents`: lists them, or shows one with its evidence.

use model::{Action, Counting};
use serde::Deserialize;

use super::agents::agent_id;
use super::{client, on_one_thread, print};
use crate::cli::IncidentsArgs;
use crate::client;
use crate::exit::{Exit, Failure};
use crate::text;

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
    prompt: Option<String>,
    response: Option<String>,
    request_chars: u64,
    response_chars: u64,
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
    let calls = evidence.iter().map(|call| client::read(call.get())).collect::<Result<Vec<Evidence>, Failure>>()?;
    print::line(&summary(&client::read(&incident)?))?;
    print::line(&last_words(&calls, print::width()))?;
    let header = ["TIME (UTC)", "MATCHED", "REQUEST", "RESPONSE", "CALL"];
    print::table(&header, calls.into_iter().map(evidence_row).collect(), "No evidence was kept.")
}

/// The incident as the server wrote it, with its evidence as one more field.
fn with_evidence(incident: &str, evidence: &str) -> String {
    let open = incident.trim_end().strip_suffix('}').unwrap_or(incident);
    format!(r#"{open},"evidence":{evidence}}}"#)
}

fn summary(incident: &Incident) -> String {
    let Incident { id, agent_id, score, threshold, window, window_size, state, .. } = incident;
    let signal = |name: &str, signal: &Signal| {
        format!("            {name:<20}{:>4} × {:.1} = {:>6.1}", signal.count, signal.weight, signal.score)
    };
    let asked = [incident.provider.as_deref(), incident.model.as_deref()].into_iter().flatten().collect::<Vec<_>>();
    let next = if state == "open" { format!(", until `agentgazer activate {agent_id}`") } else { String::new() };
    let lines = [
        format!("Incident {id}"),
        format!("  agent     {agent_id}, calling {}", asked.join(" ")),
        format!("  time      {} UTC", print::time(&incident.timestamp)),
        format!("  state     {state}{next}"),
        format!("  settings  action {}, counting {}", incident.action.as_str(), incident.counting.as_str()),
        format!("  feedback  {}", incident.feedback.as_deref().unwrap_or("none")),
        format!("  score     {score:.1} over the threshold {threshold:.1}, {window} window of {window_size} calls"),
        signal("similar prompts", &incident.signals.similar_prompts),
        signal("similar responses", &incident.signals.similar_responses),
        signal("repeated tool calls", &incident.signals.repeated_tool_calls),
    ];
    lines.map(|line| text::printable(&line)).join("\n")
}

/// What the agent asked and was told last, each on a line of at most `width` characters.
fn last_words(calls: &[Evidence], width: usize) -> String {
    let line = |name: &str, said: Option<&str>| {
        let said = text::shortened(said.unwrap_or("nothing that was kept"), width.saturating_sub(12).max(20));
        format!("  {name:<10}{said}\n")
    };
    let asked = calls.iter().rev().find_map(|call| call.prompt.as_deref());
    let answered = calls.iter().rev().find_map(|call| call.response.as_deref());
    line("asked", asked) + &line("answered", answered)
}

fn evidence_row(call: Evidence) -> Vec<String> {
    let characters = |count: u64| if count == 0 { "none".to_owned() } else { format!("{count} chars") };
    let cut = if call.truncated { ", cut" } else { "" };
    vec![
        call.timestamp.as_deref().map(print::time).unwrap_or_default(),
        call.matched.join(", "),
        characters(call.request_chars),
        characters(call.response_chars) + cut,
        call.call_id,
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
        let expected = ["2026-01-01 00:00:00", "import-fixer", "13.0/10.0", "open", "0190"];
        assert_eq!(cells, expected);
    }

    #[test]
    fn an_incident_says_how_its_score_is_made() {
        let summary = summary(&serde_json::from_str(INCIDENT).unwrap());
        insta::assert_snapshot!(summary, @r"
        Incident 0190
          agent     import-fixer, calling openai gpt[1m
          time      2026-01-01 00:00:00 UTC
          state     open, until `agentgazer activate import-fixer`
          settings  action deactivate, counting adaptive
          feedback  none
          score     13.0 over the threshold 10.0, agent window of 20 calls
                    similar prompts        5 × 1.0 =    5.0
                    similar responses      4 × 2.0 =    8.0
                    repeated tool calls    0 × 1.5 =    0.0
        ");
    }

    #[test]
    fn the_last_words_fit_the_line() {
        let call = |prompt: Option<&str>, response: Option<&str>| Evidence {
            call_id: "0190".to_owned(),
            timestamp: None,
            matched: Vec::new(),
            prompt: prompt.map(str::to_owned),
            response: response.map(str::to_owned),
            request_chars: 1,
            response_chars: 0,
            truncated: false,
        };
        let calls = [call(Some("first"), Some("It\u{1b}[2J is done, as you can see.")), call(Some("again"), None)];
        assert_eq!(last_words(&calls, 32), "  asked     again\n  answered  It[2J is done, as y…\n");
        assert_eq!(last_words(&[], 80), "  asked     nothing that was kept\n  answered  nothing that was kept\n");
        assert_eq!(evidence_row(call(None, None)), ["", "", "1 chars", "none", "0190"]);
    }

    #[test]
    fn evidence_is_one_more_field_of_the_incident() {
        assert_eq!(with_evidence("{\"id\":\"1\"}\n", "[{}]"), r#"{"id":"1","evidence":[{}]}"#);
    }
}
