//! What a drill found: a line for each channel, and whether every one was reached that should be.

use serde::{Deserialize, Serialize};
use web::{DrillLine, DrillReport};

use super::DrillOutcome;
use crate::client::alerts::Attempt;
use crate::exit::{Exit, Failure};

/// One line of the report.
#[derive(Debug, Deserialize, Serialize, PartialEq)]
pub(crate) struct Line {
    pub(crate) channel: String,
    pub(crate) kind: String,
    pub(crate) state: String,
    /// From the kill to the target's answer.
    pub(crate) after_ms: Option<u64>,
    pub(crate) answer: String,
}

const IS_OFF: &str = "it is off";

/// A line for each channel, notified or not.
pub(crate) fn lines(outcome: &DrillOutcome) -> Vec<Line> {
    let notified = outcome.deliveries.iter().map(|delivery| {
        let last = delivery.attempts.last();
        let state =
            if delivery.state == "queued" && last.is_some() { "failed, to be tried again" } else { &delivery.state };
        let answer = last.map(Attempt::words).or_else(|| delivery.reason.clone());
        Line {
            channel: delivery.channel.clone(),
            kind: delivery.kind.clone(),
            state: state.to_owned(),
            after_ms: last.map(|attempt| attempt.timestamp.millis_since(delivery.timestamp) + attempt.took_ms),
            answer: answer.unwrap_or_else(|| "still waiting".to_owned()),
        }
    });
    let skipped =
        outcome.channels.iter().filter(|channel| !outcome.deliveries.iter().any(|it| it.channel == channel.name));
    let skipped = skipped.map(|channel| Line {
        channel: channel.name.clone(),
        kind: channel.kind.clone(),
        state: "not notified".to_owned(),
        after_ms: None,
        answer: if channel.enabled { "no rule says so" } else { IS_OFF }.to_owned(),
    });
    notified.chain(skipped).collect()
}

/// Fails if no channel was reached, or not every one that should be.
pub(crate) fn verdict(lines: &[Line], activated: bool) -> Result<(), Failure> {
    let failed = |why: String| Err(Failure::new(Exit::Failed, why));
    let notified: Vec<_> = lines.iter().filter(|line| line.state != "not notified").collect();
    let missed: Vec<_> =
        notified.iter().filter(|line| line.state != "delivered").map(|line| line.channel.as_str()).collect();
    if !activated {
        return failed("the agent could not be activated again".to_owned());
    }
    if notified.is_empty() {
        return failed(format!("the kill works, but no one would be notified: {}", what_is_missing(lines)));
    }
    if !missed.is_empty() {
        return failed(format!("not reached: {}", missed.join(", ")));
    }
    Ok(())
}

/// Why none of these channels was notified, and what to do. Without any rule, all enabled channels
/// would have been.
fn what_is_missing(skipped: &[Line]) -> &'static str {
    match skipped {
        [] => "add a channel",
        channels if channels.iter().all(|channel| channel.answer == IS_OFF) => "all channels are off, switch one on",
        _ => {
            "no kill_switch rule for all agents (*) that is on leads to a channel that is on; change one, or delete them \
             all: then every kill goes to every channel"
        }
    }
}

/// The report that the dashboard shows.
pub(super) fn for_dashboard(outcome: &DrillOutcome) -> DrillReport {
    let lines = lines(outcome);
    let failure = verdict(&lines, outcome.activated).err().map(|failure| failure.error.to_string());
    let line = |line: Line| DrillLine {
        is_delivered: line.state == "delivered",
        channel: line.channel,
        kind: line.kind,
        state: line.state,
        after_ms: line.after_ms,
        answer: line.answer,
    };
    DrillReport {
        calls: outcome.calls,
        killed_in_ms: outcome.killed_in.as_millis() as u64,
        activated: outcome.activated,
        channels: lines.into_iter().map(line).collect(),
        failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drill_fails_unless_every_channel_is_reached() {
        let line = |channel: &str, state: &str| Line {
            channel: channel.to_owned(),
            kind: "webhook".to_owned(),
            state: state.to_owned(),
            after_ms: None,
            answer: String::new(),
        };
        let error_text = |lines: &[Line]| verdict(lines, true).err().map(|failure| failure.error.to_string());
        assert_eq!(error_text(&[line("a", "delivered"), line("b", "not notified")]), None);
        assert_eq!(error_text(&[line("a", "delivered"), line("b", "failed")]).as_deref(), Some("not reached: b"));
        let no_one = |answers: &[&str]| {
            let skipped = |answer: &&str| Line { answer: (*answer).to_owned(), ..line("b", "not notified") };
            error_text(&answers.iter().map(skipped).collect::<Vec<_>>()).unwrap_or_default()
        };
        assert!(no_one(&[]).ends_with("no one would be notified: add a channel"));
        assert!(no_one(&[IS_OFF, IS_OFF]).ends_with("all channels are off, switch one on"));
        assert!(no_one(&[IS_OFF, "no rule says so"]).contains("no kill_switch rule for all agents (*) that is on"));
        assert!(verdict(&[line("a", "delivered")], false).is_err());
    }
}
