//! The story on the terminal: one aligned line per call, then what it meant.

use std::io::Write;
use std::time::{Duration, Instant};

use super::Incident;
use super::cast::{Actor, Heard, STUCK};
use crate::commands::print::{BOLD, DIM, GREEN, RED, RESET, YELLOW};
use crate::exit::Failure;
use crate::server::Server;
use crate::text;

const BAR: usize = 10;

/// Tells what happens as it happens.
pub(super) struct Story {
    began: Instant,
    refusal: Option<String>,
}

impl Story {
    pub(super) fn begin(proxy: &str) -> Result<Story, Failure> {
        writeln!(
            anstream::stdout(),
            "{BOLD}AgentGazer demo{RESET}: three agents call a built-in provider through {proxy}.\n\
             Their kill switches are on. One of the three is stuck.\n\n\
             {DIM}   time  agent         call  loop score              what it does{RESET}"
        )?;
        Ok(Story { began: Instant::now(), refusal: None })
    }

    /// One call.
    pub(super) fn line(&mut self, actor: &Actor, heard: &Heard) -> Result<(), Failure> {
        writeln!(anstream::stdout(), "{}", call_line(self.began.elapsed(), (actor.name, actor.calls), heard))?;
        if let (None, Some((_, message))) = (&self.refusal, &heard.refusal) {
            self.refusal = Some(text::printable(message));
        }
        Ok(())
    }

    /// What it meant, and where to look.
    pub(super) fn end(
        &self,
        cast: &[Actor],
        incidents: &[Incident],
        reached_provider: u64,
        server: &Server,
    ) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        let path = match incidents.iter().find(|incident| incident.agent_id == STUCK) {
            Some(incident) => {
                let Incident { id, score, threshold, evidence_count, .. } = incident;
                writeln!(out, "\n{RED}{STUCK} was stopped{RESET}: loop score {score:.1}, threshold {threshold:.1}.")?;
                let told = wrapped(self.refusal.as_deref().unwrap_or_default(), 76).join(&format!("\n{:23}", ""));
                writeln!(out, "  its client was told  {told}")?;
                writeln!(out, "  on record            incident {id}, {evidence_count} calls as evidence")?;
                format!("/incidents/{id}")
            }
            None => {
                writeln!(out, "\n{RED}Nothing was stopped.{RESET}")?;
                "/".to_owned()
            }
        };
        let calls: usize = cast.iter().map(|actor| actor.calls).sum();
        let healthy = cast.iter().filter(|actor| actor.refusals == 0);
        let healthy: Vec<_> = healthy.map(|actor| format!("{} ({} calls)", actor.name, actor.calls)).collect();
        writeln!(out, "  sent upstream        {reached_provider} of {calls} calls: the refused ones cost nothing")?;
        writeln!(out, "{GREEN}Undisturbed{RESET}: {}.", healthy.join(", "))?;
        writeln!(out, "\nSee it in the dashboard: {}", server.login_link(&path))?;
        Ok(())
    }
}

/// `text` in lines of at most `width` characters, as far as its words allow.
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

/// One aligned line.
fn call_line(elapsed: Duration, (name, call): (&str, usize), heard: &Heard) -> String {
    let what = match &heard.refusal {
        Some((status, _)) => format!("{RED}refused with {status}, not sent upstream{RESET}"),
        None => text::shortened(&heard.about, 66),
    };
    let score = score(heard.score.as_deref());
    format!("{DIM}{:>5.1} s{RESET}  {name:<12} {call:>5}  {score}  {what}", elapsed.as_secs_f64())
}

/// A bar up to the threshold and the numbers, always of the same width.
fn score(said: Option<&str>) -> String {
    let numbers = said.and_then(|said| said.split_once('/'));
    let numbers =
        numbers.and_then(|(score, threshold)| Some((score.parse::<f64>().ok()?, threshold.parse::<f64>().ok()?)));
    let Some((score, threshold)) = numbers else {
        return format!("{:<width$}", "", width = BAR + 12);
    };
    let share = score / threshold;
    let colour = match share {
        share if share > 1.0 => RED,
        share if share >= 0.8 => YELLOW,
        _ => DIM,
    };
    let filled = (0..BAR).filter(|cell| (*cell as f64) + 0.5 < share * BAR as f64).count();
    let bar = format!("{}{}", "█".repeat(filled), "░".repeat(BAR - filled));
    format!("{colour}{bar}{RESET} {score:>4.1} / {threshold:<4.1}")
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
            let heard = Heard { about: "asks: why?".to_owned(), score: score.map(str::to_owned), refusal };
            assert_eq!(plain(&call_line(Duration::from_millis(1230), (STUCK, 4), &heard)), expected);
        };
        check(Some("0.0/10.0"), None, "  1.2 s  import-fixer     4  ░░░░░░░░░░  0.0 / 10.0  asks: why?");
        check(Some("7.0/10.0"), None, "  1.2 s  import-fixer     4  ███████░░░  7.0 / 10.0  asks: why?");
        let refused = Some((400, "stopped".to_owned()));
        check(
            Some("13.0/10.0"),
            refused.clone(),
            "  1.2 s  import-fixer     4  ██████████ 13.0 / 10.0  refused with 400, not sent upstream",
        );
        check(
            None,
            refused,
            "  1.2 s  import-fixer     4                          refused with 400, not sent upstream",
        );
    }
}
