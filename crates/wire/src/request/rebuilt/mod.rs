//! Agents that rebuild one prompt at every step: what they did is the model's answer to the prompt
//! before, and what came of it is what this prompt shows for the first time. Remembered are hashes
//! of the lines that each run has shown, up to a limit.

mod families;
mod lines;
mod run;
mod said;
mod tokens;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use memchr::memchr_iter;
use model::{Answered, Asked};
use twox_hash::XxHash3_64;

use self::lines::{LONGEST_LINE, Line, Sheet};
use self::run::Run;
use self::said::{Said, words_of};
use self::tokens::fold;
use super::written::shows_page;

/// A shorter prompt holds no history.
const FEWEST_LINES: usize = 4;
/// How many runs of one agent begin alike.
const MOST_ALIKE: usize = 8;

/// The run that a request belongs to, which is told of its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId {
    opening: u64,
    number: u64,
}

/// The runs of all agents that rebuild their prompts. Those of the least recently used opening are
/// evicted first.
#[derive(Debug)]
pub struct RebuiltPrompts {
    /// By agent and opening.
    openings: HashMap<u64, Opening>,
    by_age: BTreeMap<u64, u64>,
    next: u64,
    /// The number of lines that are remembered, and that may be.
    size: usize,
    limit: usize,
}

/// The runs of one agent that begin alike, the newest last.
#[derive(Debug, Default)]
struct Opening {
    runs: Vec<Run>,
    age: u64,
    size: usize,
}

/// A prompt that may be a step of a run, hashed before the runs are locked.
#[derive(Debug)]
pub struct RebuiltPrompt {
    text: String,
    sheet: Sheet,
    whole: u64,
    /// The beginning that stays the same from step to step.
    opening: u64,
    is_page: bool,
    /// The words of each line, for runs that are told by them.
    words: OnceLock<Vec<Vec<u64>>>,
}

impl RebuiltPrompt {
    /// Reads the prompt of a request; `None` if its history is elsewhere.
    pub fn of(asked: &Asked<'_>) -> Option<RebuiltPrompt> {
        // Nearly all requests end here.
        let is_single = asked.first_user_message.is_none() && asked.turn_position == 0;
        let is_work = !asked.tool_calls.is_empty() && !asked.calls_are_written;
        if !is_single || is_work || !asked.attachments.is_empty() || asked.continues.is_some() {
            return None;
        }
        let is_short = |piece: &Cow<'_, str>| {
            piece.len() <= LONGEST_LINE && memchr_iter(b'\n', piece.as_bytes()).count() + 1 < FEWEST_LINES
        };
        if asked.prompt.len() <= 1 && asked.prompt.iter().all(is_short) {
            return None;
        }
        let mut text = asked.prompt.join("\n");
        let is_page = asked.turn_message.is_some();
        if is_page {
            if !shows_page(&text) {
                return None;
            }
            text = asked.tool_results.join("\n");
        } else if asked.depth > 0 || !asked.tool_results.is_empty() {
            return None;
        }
        let sheet = Sheet::of(&text);
        if !is_page && sheet.lines.len() < FEWEST_LINES {
            return None;
        }
        let whole = asked.prompt.iter().fold(0, |hash, piece| fold(hash, XxHash3_64::oneshot(piece.as_bytes())));
        let opening = match &asked.turn_message {
            Some(task) if is_page => task.iter().fold(1, |hash, it| fold(hash, XxHash3_64::oneshot(it.as_bytes()))),
            _ => sheet.lines.first().map_or(0, |line| line.family),
        };
        Some(RebuiltPrompt { text, sheet, whole, opening, is_page, words: OnceLock::new() })
    }
}

impl RebuiltPrompt {
    /// The words of each line.
    fn words(&self) -> &[Vec<u64>] {
        let words_at = |line: &Line| words_of(&self.text[line.place.clone()]);
        self.words.get_or_init(|| self.sheet.lines.iter().map(words_at).collect())
    }
}

impl RebuiltPrompts {
    /// Creates an empty memory of at most `limit` lines.
    pub fn new(limit: usize) -> RebuiltPrompts {
        RebuiltPrompts { openings: HashMap::new(), by_age: BTreeMap::new(), next: 1, size: 0, limit }
    }

    /// Completes a request whose `prompt` continues a run: the newest step is what the model
    /// answered before, with what is new since.
    pub fn place(&mut self, agent: &str, prompt: &RebuiltPrompt, asked: &mut Asked<'_>) -> RunId {
        let key = fold(XxHash3_64::oneshot(agent.as_bytes()), prompt.opening);
        let number = self.next;
        self.next += 1;
        let opening = self.openings.entry(key).or_default();
        self.by_age.remove(&opening.age);
        self.by_age.insert(number, key);
        opening.age = number;
        let run = opening.run(prompt, asked, number);
        if let Some(step) = run.step(prompt, asked) {
            asked.tool_calls = step.calls;
            asked.tool_results = vec![Cow::Owned(step.result)];
            asked.calls_are_written = true;
            asked.talk.clear();
            if !prompt.is_page {
                asked.turn_message = Some(vec![Cow::Owned(format!("{:016x}", run.first))]);
                asked.first_user_message = None;
                asked.turn_position = 0;
                asked.depth = run.steps;
            }
        }
        let id = RunId { opening: key, number: run.number };
        let size = opening.runs.iter().map(Run::size).sum();
        self.size = self.size - std::mem::replace(&mut opening.size, size) + size;
        self.evict();
        id
    }

    /// Remembers what the model answered.
    pub fn answered(&mut self, run: RunId, answered: &Answered) {
        let runs = self.openings.get_mut(&run.opening).map(|opening| &mut opening.runs);
        if let Some(run) = runs.into_iter().flatten().find(|it| it.number == run.number) {
            run.hear(Said::of(answered));
        }
    }

    /// Evicts runs until the rest is within the limit, but never the newest.
    fn evict(&mut self) {
        while self.size > self.limit
            && self.openings.len() > 1
            && let Some((_, key)) = self.by_age.pop_first()
        {
            self.size -= self.openings.remove(&key).map_or(0, |opening| opening.size);
        }
    }
}

impl Opening {
    /// The run that `prompt` continues, or else a new one with this number.
    fn run(&mut self, prompt: &RebuiltPrompt, asked: &Asked<'_>, number: u64) -> &mut Run {
        match self.find(prompt, asked) {
            Some(place) => self.runs[place..].rotate_left(1),
            None => {
                if self.runs.len() >= MOST_ALIKE {
                    self.runs.remove(0);
                }
                self.runs.push(Run::new(number));
            }
        }
        let newest = self.runs.len() - 1;
        &mut self.runs[newest]
    }

    /// The run that `prompt` continues, the newest if there are several.
    fn find(&self, prompt: &RebuiltPrompt, asked: &Asked<'_>) -> Option<usize> {
        if let Some(place) = self.runs.iter().rposition(|run| run.whole == prompt.whole) {
            return Some(place);
        }
        if prompt.is_page {
            if asked.tool_calls.is_empty() {
                return None;
            }
            let newest = self.runs.len().checked_sub(1);
            return self.runs.iter().rposition(|run| run.said_action_of(asked)).or(newest);
        }
        let rated =
            self.runs.iter().enumerate().rev().filter_map(|(place, run)| Some((run.continues_in(prompt)?, place)));
        rated.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, place)| place)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use model::ToolCall;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn prompt(screen: &str, log: &[&str]) -> String {
        let log: String = log.iter().map(|entry| format!("* {entry}\n")).collect();
        format!("You operate a kiosk.\ngoal: order the parts\nscreen:\n{screen}\nlog:\n{log}end")
    }

    fn send(prompts: &mut RebuiltPrompts, agent: &str, text: String) -> (Option<(String, String)>, RunId) {
        let mut asked = Asked { prompt: vec![text.into()], ..Asked::default() };
        let read = RebuiltPrompt::of(&asked).unwrap();
        let run = prompts.place(agent, &read, &mut asked);
        let step = asked.tool_calls.first().map(|call| format!("{} {}", call.name, call.arguments));
        (step.map(|step| (step, asked.tool_results[0].to_string())), run)
    }

    fn answer(prompts: &mut RebuiltPrompts, run: RunId, text: &str) {
        prompts.answered(run, &Answered { text: text.to_owned(), ..Answered::default() });
    }

    const CLICK: &str = "I look at it.\nclick(\"Details\")";

    #[test]
    fn answer_and_what_is_new_are_the_step() {
        let mut prompts = RebuiltPrompts::new(1_000);
        let (first, run) = send(&mut prompts, "a", prompt("(3) link Details", &[]));
        assert_eq!(first, None);
        answer(&mut prompts, run, CLICK);
        let log = ["I look at it. click(\"Details\")"];
        let (second, again) = send(&mut prompts, "a", prompt("(8) link Details\nAd: sofas", &log));
        let (call, nothing) = second.unwrap();
        assert_eq!((call.as_str(), again), ("click \"Details\"", run));
        answer(&mut prompts, run, CLICK);
        let (third, _) = send(&mut prompts, "a", prompt("(5) link Details\nSponsored: tyres", &log));
        assert_eq!(third.unwrap().1, nothing);
        answer(&mut prompts, run, CLICK);
        let (fourth, _) = send(&mut prompts, "a", prompt("(2) heading Details of the order", &log));
        let new = fourth.unwrap().1;
        answer(&mut prompts, run, CLICK);
        let (fifth, _) = send(&mut prompts, "a", prompt("(5) link Details\n(3) heading Details of the order", &log));
        assert!(![nothing, new].contains(&fifth.unwrap().1));
    }

    #[test]
    fn a_prompt_that_is_sent_again_is_the_same_step() {
        let mut prompts = RebuiltPrompts::new(1_000);
        let (_, run) = send(&mut prompts, "a", prompt("(3) link Details", &[]));
        answer(&mut prompts, run, CLICK);
        let next = || prompt("heading Details of the order", &["I look at it. click(\"Details\")"]);
        let (once, _) = send(&mut prompts, "a", next());
        let (twice, _) = send(&mut prompts, "a", next());
        assert!(once.is_some());
        assert_eq!(once, twice);
    }

    #[test]
    fn prompts_without_what_was_answered_are_other_runs() {
        let mut prompts = RebuiltPrompts::new(1_000);
        let (_, run) = send(&mut prompts, "a", prompt("review: it broke after a day", &[]));
        answer(&mut prompts, run, "{\"label\": \"negative\", \"certainty\": \"high\"}");
        let (step, other) = send(&mut prompts, "a", prompt("review: it works well", &[]));
        assert_eq!(step, None);
        assert_ne!(run, other);
        let (step, _) = send(&mut prompts, "another agent", prompt("review", &["label negative certainty high"]));
        assert_eq!(step, None);
    }

    #[test]
    fn the_number_of_an_element_stands_for_its_description() {
        let mut prompts = RebuiltPrompts::new(1_000);
        let (_, run) = send(&mut prompts, "a", prompt("[3] link 'Details'\n[4] link 'Back'", &[]));
        answer(&mut prompts, run, "I look at it.\nclick('3')");
        let log = ["I look at it. click('3')"];
        let (one, _) = send(&mut prompts, "a", prompt("[5] link 'Back'\n[9] link 'Details'", &log));
        answer(&mut prompts, run, "I look at it.\nclick('9')");
        let (other, _) = send(&mut prompts, "a", prompt("[1] link 'Back'\n[2] link 'Details'", &log));
        assert_eq!(one.unwrap().0, other.unwrap().0);
    }

    /// The steps of a run, each with an answer and the entry that the next prompt has of it.
    fn steps(run: &[(Answered, &str)]) -> Vec<(String, String)> {
        let mut prompts = RebuiltPrompts::new(1_000);
        let (mut log, mut steps) = (String::new(), Vec::new());
        for (answered, entry) in run {
            let text = format!("You keep a store.\njob: count the bolts\nlog:\n{log}\nsteps left: {}", log.len());
            let (step, id) = send(&mut prompts, "a", text);
            steps.extend(step);
            prompts.answered(id, answered);
            log.push_str(entry);
        }
        steps
    }

    fn said(text: &str) -> Answered {
        Answered { text: text.to_owned(), ..Answered::default() }
    }

    #[test]
    fn what_the_model_said_is_told_from_the_result_inside_a_line() {
        let entries = [
            (said("why: the shelf may hold them\nwhat: look shelf north"), "shelf north: nobody answers the bell."),
            (said("why: they could be in there\nwhat: look shelf south"), "shelf south: nobody answers the bell."),
            (said("why: one more place is left\nwhat: look shelf north"), "shelf north: nobody answers the bell."),
            (said("why: it is late by now\nwhat: look shelf west"), "shelf west: forty bolts."),
            (said("why: so it is\nwhat: stop"), ""),
        ];
        let run: Vec<(Answered, String)> = entries
            .into_iter()
            .enumerate()
            .map(|(number, (said, result))| {
                (said.clone(), format!("| {number} | {} => {result} |\n", said.text.replace('\n', " ")))
            })
            .collect();
        let run: Vec<(Answered, &str)> = run.iter().map(|(said, entry)| (said.clone(), entry.as_str())).collect();
        let steps = steps(&run);
        let (calls, results): (Vec<&str>, Vec<&str>) = steps.iter().map(|(call, result)| (&**call, &**result)).unzip();
        assert_eq!(calls, ["look shelf north", "look shelf south", "look shelf north", "look shelf west"]);
        assert_eq!(results[1], results[2]);
        assert!(results[1].contains("nobody answers"), "{}", results[1]);
        assert_ne!(results[3], results[1]);
    }

    #[test]
    fn tool_calls_are_answers_whose_thoughts_do_not_count() {
        let act = |reason: &str, place: &str| {
            let arguments = format!(r#"{{"reason": "{reason}", "do": {{"open": {{"place": "{place}"}}}}}}"#);
            let call = ToolCall { name: "act".into(), arguments: arguments.into() };
            Answered { tool_calls: vec![call], ..Answered::default() }
        };
        let run = [
            (act("it comes first", "box of bolts"), "1. open box of bolts -> closed\n"),
            (act("once again", "box of bolts"), "2. open box of bolts -> closed\n"),
            (act("so", "lid"), ""),
        ];
        let steps = steps(&run);
        assert_eq!(steps.len(), 2);
        assert_eq!(steps[0].0, r#"act_open {"open":{"place": "box of bolts"}}"#);
        assert_eq!(steps[0].0, steps[1].0);
    }

    proptest! {
        #[test]
        fn any_texts_are_read(texts in vec(("\\PC{0,300}(\n[^a]{0,60}){3,9}", "\\PC{0,80}"), 1..8)) {
            let mut prompts = RebuiltPrompts::new(100);
            for (text, said) in texts {
                let mut asked = Asked { prompt: vec![text.into()], ..Asked::default() };
                if let Some(prompt) = RebuiltPrompt::of(&asked) {
                    let run = prompts.place("a", &prompt, &mut asked);
                    answer(&mut prompts, run, &said);
                }
            }
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut prompts = RebuiltPrompts::new(1_000);
        for number in 0..500_u32 {
            let lines: String = (0..10).map(|line| format!("line {number} {line}\n")).collect();
            send(&mut prompts, &number.to_string(), prompt(&lines, &[]));
            assert!(prompts.size <= 1_000, "{}", prompts.size);
            assert_eq!(prompts.openings.len(), prompts.by_age.len());
        }
        assert!(!prompts.openings.is_empty());
    }
}
