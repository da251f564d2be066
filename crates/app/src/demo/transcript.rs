//! The output on the terminal: one aligned line per call, then a summary.

use std::io::Write;
use std::time::{Duration, Instant};

use super::Incident;
use super::agents::{CallOutcome, DemoAgent, STUCK};
use crate::exit::Failure;
use crate::print::{self, BOLD, DIM, GREEN, RED, RESET, YELLOW};
use crate::server::Server;
use crate::text;

const BAR: usize = 10;

/// Prints each call as it happens.
pub(super) struct Transcript {
    began: Instant,
    refusal: Option<String>,
    /// The longest line.
    width: usize,
}

impl Transcript {
    pub(super) fn begin(proxy: &str) -> Result<Transcript, Failure> {
        writeln!(
            anstream::stdout(),
            "{BOLD}AgentGazer demo{RESET}: three agents call a built-in provider through\n\
             {proxy}, with their kill switches on. One of the three is stuck.\n\n\
             {DIM}  time  agent         call  loop score            what it does{RESET}"
        )?;
        Ok(Transcript { began: Instant::now(), refusal: None, width: print::width().clamp(80, 120) })
    }

    /// One call.
    pub(super) fn line(&mut self, agent: &DemoAgent, outcome: &CallOutcome) -> Result<(), Failure> {
        let start = call_start(self.began.elapsed(), (agent.name, agent.calls), outcome);
        writeln!(anstream::stdout(), "{start}{}", what(outcome, self.width - START))?;
        if let (None, Some((_, message))) = (&self.refusal, &outcome.refusal) {
            self.refusal = Some(text::printable(message));
        }
        Ok(())
    }

    /// The summary, and where to look.
    pub(super) fn end(
        &self,
        agents: &[DemoAgent],
        incidents: &[Incident],
        reached_provider: u64,
        server: &Server,
    ) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        let path = match incidents.iter().find(|incident| incident.agent_id == STUCK) {
            Some(incident) => {
                let Incident { id, score, threshold, evidence_count, .. } = incident;
                writeln!(out, "\n{RED}{STUCK} was stopped{RESET}: loop score {score:.1}, threshold {threshold:.1}.")?;
                let told =
                    wrapped(self.refusal.as_deref().unwrap_or_default(), self.width - 24).join(&format!("\n{:23}", ""));
                writeln!(out, "  its client was told  {told}")?;
                writeln!(out, "  on record            incident {id}, {evidence_count} calls")?;
                format!("/incidents/{id}")
            }
            None => {
                writeln!(out, "\n{RED}Nothing was stopped.{RESET}")?;
                "/".to_owned()
            }
        };
        let calls: usize = agents.iter().map(|agent| agent.calls).sum();
        let healthy = agents.iter().filter(|agent| agent.refusals == 0);
        let healthy: Vec<_> = healthy.map(|agent| format!("{} ({} calls)", agent.name, agent.calls)).collect();
        writeln!(out, "  sent upstream        {reached_provider} of {calls} calls: the refused ones cost nothing")?;
        writeln!(out, "{GREEN}Undisturbed{RESET}: {}.", healthy.join(", "))?;
        writeln!(out, "\nSee it in the dashboard: {}", server.login_link(&path))?;
        Ok(())
    }
}

/// Wraps `text` between words into lines of at most `width` characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The start of a line, of constant width.
fn call_start(elapsed: Duration, (name, call): (&str, usize), outcome: &CallOutcome) -> String {
    let score = score(outcome.score.as_deref());
    format!("{DIM}{:>4.1} s{RESET}  {name:<12}  {call:>4}  {score}  ", elapsed.as_secs_f64())
}

/// The width of that start.
const START: usize = 50;

/// What the call was about, or its refusal.
fn what(outcome: &CallOutcome, width: usize) -> String {
    match &outcome.refusal {
        Some((status, _)) => format!("{RED}refused with {status}, not sent on{RESET}"),
        None => text::shortened(&outcome.about, width),
    }
}

/// A bar up to the threshold and the numbers, of constant width.
fn score(score_text: Option<&str>) -> String {
    let numbers = score_text.and_then(|score_text| score_text.split_once('/'));
    let numbers =
        numbers.and_then(|(score, threshold)| Some((score.parse::<f64>().ok()?, threshold.parse::<f64>().ok()?)));
    let Some((score, threshold)) = numbers else {
        return format!("{:<width$}", "", width = BAR + 10);
    };
    let share = score / threshold;
    let colour = match share {
        share if share > 1.0 => RED,
        share if share >= 0.8 => YELLOW,
        _ => DIM,
    };
    let filled = (0..BAR).filter(|cell| (*cell as f64) + 0.5 < share * BAR as f64).count();
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled));
    format!("{colour}{bar}{RESET} {score:>4.1}/{threshold:<4.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(line: &str) -> String {
        anstream::adapter::strip_str(line).to_string()
    }

    #[test]
    fn long_text_is_wrapped_between_words() {
        assert_eq!(wrapped("one two three, averylongword four", 8), ["one two", "three,", "averylongword", "four"]);
        assert_eq!(wrapped("", 8), [""]);
    }

    #[test]
    fn lines_are_aligned() {
        let check = |score: Option<&str>, refusal: Option<(u16, String)>, expected: &str| {
            let outcome = CallOutcome {
                about: "asks: why do the imports fail?".to_owned(),
                score: score.map(str::to_owned),
                refusal,
            };
            let start = plain(&call_start(Duration::from_millis(1230), (STUCK, 4), &outcome));
            assert_eq!(start.chars().count(), START);
            assert_eq!(start + &plain(&what(&outcome, 20)), expected);
        };
        check(Some("0.0/10.0"), None, " 1.2 s  import-fixer     4  ░░░░░░░░░░  0.0/10.0  asks: why do the im…");
        check(Some("7.0/10.0"), None, " 1.2 s  import-fixer     4  ███████░░░  7.0/10.0  asks: why do the im…");
        let refused = Some((400, "stopped".to_owned()));
        check(
            Some("13.0/10.0"),
            refused.clone(),
            " 1.2 s  import-fixer     4  ██████████ 13.0/10.0  refused with 400, not sent on",
        );
        check(None, refused, " 1.2 s  import-fixer     4                        refused with 400, not sent on");
    }
}
