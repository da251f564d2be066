//! One incident as text: its score, the shape and cost of its loop, and the calls of its evidence.

use model::{ActivatedBy, Cycle};

use super::{Evidence, Incident, Signal};
use crate::commands::figures::dollars;
use crate::print;
use crate::text;

/// The incident without its evidence.
pub(super) fn summary(incident: &Incident) -> String {
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
        format!("  state     {state}{next}{}", closed(incident)),
        format!("  cycle     {}", cycle(incident.cycle)),
        format!("  cost      {}", cost(incident)),
        format!("  refused   {} further requests, $0 spent", incident.refused),
        format!("  settings  action {}, counting {}", incident.action.as_str(), incident.counting.as_str()),
        format!("  feedback  {}", incident.feedback.as_deref().unwrap_or("none")),
        format!("  score     {score:.1} over the threshold {threshold:.1}, {window} window of {window_size} calls"),
        signal("similar prompts", &incident.signals.similar_prompts),
        signal("similar responses", &incident.signals.similar_responses),
        signal("repeated tool calls", &incident.signals.repeated_tool_calls),
    ];
    lines.map(|line| text::printable(&line)).join("\n")
}

fn closed(incident: &Incident) -> String {
    let Some(at) = &incident.closed_at else { return String::new() };
    let by = match incident.closed_by {
        Some(ActivatedBy::Dashboard) => " from the dashboard",
        Some(ActivatedBy::Api) => " by the API",
        Some(ActivatedBy::CommandLine) => " from the command line",
        None => "",
    };
    format!(", activated again {} UTC{by}", print::time(at))
}

fn cycle(cycle: Option<Cycle>) -> String {
    match cycle {
        None => "none: no fixed order".to_owned(),
        Some(Cycle { period: 1, laps }) => format!("the same call {laps} times in a row"),
        Some(Cycle { period, laps }) => format!("{period} calls in the same order, {laps} laps"),
    }
}

fn cost(incident: &Incident) -> String {
    let Some(since) = &incident.stuck_since else { return "not known".to_owned() };
    let spent = incident.loop_cost_usd.map_or_else(|| "not known (no price)".to_owned(), |cost| dollars(cost.usd()));
    let pace = incident.loop_cost_per_hour_usd.map(|cost| format!(", {} an hour at its pace", dollars(cost.usd())));
    let pace = pace.unwrap_or_default();
    format!("{spent} in {} calls since {} UTC{pace}", incident.stuck_calls, print::time(since))
}

/// The last prompt and the last answer, each on a line of at most `width` characters.
pub(super) fn last_words(calls: &[Evidence], width: usize) -> String {
    let line = |name: &str, text: Option<&str>| {
        let text = text::shortened(text.unwrap_or("nothing that was kept"), width.saturating_sub(12).max(20));
        format!("  {name:<10}{text}\n")
    };
    let asked = calls.iter().rev().find_map(|call| call.prompt.as_deref());
    let answered = calls.iter().rev().find_map(|call| call.response.as_deref());
    line("asked", asked) + &line("answered", answered)
}

/// One call of the evidence, as a row.
pub(super) fn evidence_row(calls: &[Evidence], place: usize) -> Vec<String> {
    let call = &calls[place];
    let characters = |count: u64| if count == 0 { "none".to_owned() } else { format!("{count} chars") };
    let cut = if call.truncated { ", cut" } else { "" };
    vec![
        (place + 1).to_string(),
        call.timestamp.as_deref().map(print::time).unwrap_or_default(),
        why(calls, call),
        characters(call.request_chars),
        characters(call.response_chars) + cut,
        call.call_id.clone(),
    ]
}

/// The signals by which a call matched, and the later calls: `prompt as 6 (0), response as 5 (1)`.
fn why(calls: &[Evidence], call: &Evidence) -> String {
    let reason = |matched: &String| {
        let likeness = call.alike.iter().find(|likeness| likeness.by == *matched)?;
        let number = calls.iter().position(|other| other.call_id == likeness.call_id)? + 1;
        let distance = likeness.distance.map(|distance| format!(" ({distance})")).unwrap_or_default();
        Some(format!("{matched} as {number}{distance}"))
    };
    let reasons = call.matched.iter().map(|matched| reason(matched).unwrap_or_else(|| matched.clone()));
    reasons.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    use crate::commands::incidents::tests::INCIDENT;

    #[test]
    fn an_incident_says_how_its_score_is_made() {
        let summary = summary(&serde_json::from_str(INCIDENT).unwrap());
        insta::assert_snapshot!(summary, @r"
        Incident 0190
          agent     import-fixer, calling openai gpt[1m
          time      2026-01-01 00:00:00 UTC
          state     open, until `agentgazer activate import-fixer`
          cycle     the same call 6 times in a row
          cost      $0.05 in 6 calls since 2025-12-31 23:59:00 UTC, $3.00 an hour at its pace
          refused   412 further requests, $0 spent
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
            alike: Vec::new(),
            prompt: prompt.map(str::to_owned),
            response: response.map(str::to_owned),
            request_chars: 1,
            response_chars: 0,
            truncated: false,
        };
        let calls = [call(Some("first"), Some("It\u{1b}[2J is done, as you can see.")), call(Some("again"), None)];
        assert_eq!(last_words(&calls, 32), "  asked     again\n  answered  It[2J is done, as y…\n");
        assert_eq!(last_words(&[], 80), "  asked     nothing that was kept\n  answered  nothing that was kept\n");
        assert_eq!(evidence_row(&[call(None, None)], 0), ["1", "", "", "1 chars", "none", "0190"]);
    }

    #[test]
    fn a_call_says_which_later_one_it_is_like() {
        let call = |id: &str, alike: &str| {
            let json = r#"{"call_id":"ID","timestamp":null,"matched":["prompt","tool_call","failed"],"alike":ALIKE,
                "prompt":null,"response":null,"request_chars":0,"response_chars":0,"truncated":false}"#;
            serde_json::from_str(&json.replace("ID", id).replace("ALIKE", alike)).unwrap()
        };
        let alike = r#"[{"by":"prompt","call_id":"b","distance":1},{"by":"tool_call","call_id":"b","distance":null}]"#;
        let calls: [Evidence; 2] = [call("a", alike), call("b", "[]")];
        assert_eq!(why(&calls, &calls[0]), "prompt as 2 (1), tool_call as 2, failed");
        assert_eq!(why(&calls, &calls[1]), "prompt, tool_call, failed");
    }

    #[test]
    fn a_closed_incident_says_who_activated_the_agent() {
        let json = INCIDENT.replace("\"closed_at\":null", "\"closed_at\":\"2026-01-01T00:10:00.000Z\"");
        let json = json.replace("\"closed_by\":null", "\"closed_by\":\"command_line\"");
        let incident = serde_json::from_str(&json.replace("open", "closed")).unwrap();
        let text = ", activated again 2026-01-01 00:10:00 UTC from the command line";
        assert_eq!(closed(&incident), text);
    }
}
