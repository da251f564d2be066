//! Agents that rebuild one prompt at every step: what they did is the model's answer to the prompt
//! before, and what came of it is what this prompt shows for the first time. Remembered are hashes
//! of the lines that each run has shown, up to a limit.

mod besides;
mod families;
mod lines;
mod run;
mod said;
mod tokens;

use std::borrow::Cow;
use std::sync::OnceLock;

use memchr::memchr_iter;
use model::{Answered, Asked};
use twox_hash::XxHash3_64;

use self::lines::{LONGEST_LINE, Line, Sheet};
use self::run::Run;
use self::said::{Said, words_of};
use self::tokens::fold;
use super::bounded_map::BoundedMap;
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
    /// By agent and opening; a size is a number of lines.
    openings: BoundedMap<u64, Opening>,
    next_run: u64,
}

/// The runs of one agent that begin alike, the newest last.
#[derive(Debug, Default)]
struct Opening {
    runs: Vec<Run>,
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
    /// The numbers of the elements of a page, and their descriptions.
    elements: Vec<(u64, u64)>,
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
        let mut elements = Vec::new();
        if is_page {
            if !shows_page(&text) {
                return None;
            }
            // The page is compared without the numbers of its elements.
            elements = Sheet::of(&text).elements(&text);
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
        Some(RebuiltPrompt { text, sheet, whole, opening, is_page, elements, words: OnceLock::new() })
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
        RebuiltPrompts { openings: BoundedMap::new(limit), next_run: 1 }
    }

    /// Completes a request whose `prompt` continues a run: the newest step is what the model
    /// answered before, with what is new since.
    pub fn place(&mut self, agent: &str, prompt: &RebuiltPrompt, asked: &mut Asked<'_>) -> RunId {
        let key = fold(XxHash3_64::oneshot(agent.as_bytes()), prompt.opening);
        let number = self.next_run;
        self.next_run += 1;
        let mut opening = self.openings.remove(key).unwrap_or_default();
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
        self.openings.insert(key, opening, size);
        id
    }

    /// Remembers what the model answered.
    pub fn answered(&mut self, run: RunId, answered: &Answered) {
        let runs = self.openings.get_mut(run.opening).map(|opening| &mut opening.runs);
        if let Some(run) = runs.into_iter().flatten().find(|it| it.number == run.number) {
            run.hear(Said::of(answered));
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
mod tests;
