//! One run of an agent that rebuilds its prompt.

mod seen;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use model::{Asked, ToolCall};
use twox_hash::XxHash3_64;

use super::RebuiltPrompt;
use super::families::{Action, Families};
use super::lines::{Line, words};
use super::said::{Said, words_of};
use super::tokens::fold;
use seen::Seen;

/// How many pages are kept to compare another one with.
const PAGES: usize = 6;
/// More lines are not remembered of one run.
const MOST_LINES: usize = 20_000;
/// A page on which the same action changes more numbers is in another state.
const MOST_COUNTERS: usize = 2;
/// More new lines need not be told.
const MOST_NEWS: usize = 64;
/// A prompt that continues a run has so many lines of the one before.
const FEWEST_SHARED: usize = 2;
/// A history shows so many answers at least.
const ANSWERS: usize = 12;
/// How many words stand for a prompt that shows nothing new: a short result would be a state.
const WORDS_OF_NOTHING: u64 = 10;

/// A run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) number: u64,
    /// The hash of its first prompt, and of its newest.
    pub(super) first: u64,
    pub(super) whole: u64,
    /// The number of prompts after the first one.
    pub(super) steps: u32,
    /// What the model said, newest last, and whether that answered the newest prompt.
    said: VecDeque<Said>,
    is_answered: bool,
    /// Whether a prompt has repeated what the model said.
    is_known: bool,
    /// All lines of the newest prompt, and how often it has each.
    newest: HashMap<u64, u32>,
    /// Each line that was shown.
    shown: HashMap<u64, Shown>,
    /// A hash of the newest lines that were new.
    news: u64,
    pages: VecDeque<HashSet<u64>>,
    families: Families,
    /// Hashes of the actions so far.
    actions: HashSet<u64>,
    elements: HashMap<u64, u64>,
    step: Option<Step>,
}

/// What became of a line that was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Stands,
    Gone,
    /// It repeats what the model said, or its number never rests.
    Aside,
    /// A part of it repeats what the model said.
    Partly,
}

/// The newest step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) calls: Vec<ToolCall<'static>>,
    pub(super) result: String,
}

impl Run {
    pub(super) fn new(number: u64) -> Run {
        Run {
            number,
            first: 0,
            whole: 0,
            steps: 0,
            said: VecDeque::new(),
            is_answered: false,
            is_known: false,
            newest: HashMap::new(),
            shown: HashMap::new(),
            news: 0,
            pages: VecDeque::new(),
            families: Families::default(),
            actions: HashSet::new(),
            elements: HashMap::new(),
            step: None,
        }
    }

    /// The number of lines and words that it remembers.
    pub(super) fn size(&self) -> usize {
        let said: usize = self.said.iter().map(Said::size).sum();
        self.shown.len() + self.newest.len() * (PAGES + 2) + said + 64
    }

    /// Whether the model's last answer holds the action that a page reports.
    pub(super) fn said_action_of(&self, asked: &Asked<'_>) -> bool {
        let (Some(said), [call]) = (self.said.back(), &asked.tool_calls[..]) else { return false };
        said.holds(&words_of(&call.arguments))
    }

    /// Adds what the model said.
    pub(super) fn hear(&mut self, said: Said) {
        if self.said.len() >= ANSWERS {
            self.said.pop_front();
        }
        self.said.push_back(said);
        self.is_answered = true;
    }

    /// How certainly a prompt of unknown layout continues the run; `None` if it does not.
    pub(super) fn continues_in(&self, prompt: &RebuiltPrompt) -> Option<f64> {
        let said = self.said.back()?;
        let lines = &prompt.sheet.lines;
        let old = lines.iter().filter(|line| self.newest.contains_key(&line.kept)).count();
        if old < FEWEST_SHARED {
            return None;
        }
        let share = old as f64 / lines.len().max(1) as f64;
        let (echo, is_echo) = said.echo_in(&prompt.sheet.words);
        let is_echo = is_echo || self.repeats_in_line(prompt, said);
        let echo = if is_echo { 1.0 } else { echo };
        let certainty = 2.0 * echo + share / 2.0 + f64::from(u8::from(self.is_answered));
        (is_echo || self.is_known && share >= 0.5).then_some(certainty)
    }

    /// Whether a line of the prompt repeats what the model said: a new one, as long as the run is
    /// not known.
    fn repeats_in_line(&self, prompt: &RebuiltPrompt, said: &Said) -> bool {
        let lines = prompt.sheet.lines.iter().zip(prompt.words());
        let mut lines = lines.filter(|(line, _)| self.is_known || !self.newest.contains_key(&line.kept));
        lines.any(|(_, words)| said.is_echoed_by(words))
    }

    /// Adds the next prompt; the step that it reports, if any.
    pub(super) fn step(&mut self, prompt: &RebuiltPrompt, asked: &Asked<'_>) -> Option<Step> {
        if self.whole == prompt.whole {
            return self.step.clone();
        }
        let is_first = self.first == 0;
        if is_first {
            self.first = prompt.whole;
        }
        self.whole = prompt.whole;
        self.steps += 1;
        let had_answer = std::mem::take(&mut self.is_answered);
        let said = self.said.back().filter(|said| !prompt.is_page || (had_answer && said.is_read));
        let reported = match said {
            Some(said) if !is_first => {
                self.is_known = true;
                &said.actions
            }
            _ => &asked.tool_calls,
        };
        let calls: Vec<_> = reported.iter().map(|call| self.described(call)).collect();
        let action = self.act(&calls);
        let (is_new, result) = self.add(prompt, &action);
        // A call without an answer is made again, with another time in its prompt.
        if had_answer || is_new || self.step.is_none() {
            self.step = Some(Step { calls, result }).filter(|step| !step.calls.is_empty());
        }
        self.step.clone()
    }

    /// Remembers the actions of a step.
    fn act(&mut self, calls: &[ToolCall<'_>]) -> Action {
        if self.actions.len() > MOST_LINES {
            self.actions.clear();
        }
        let texts = calls.iter().flat_map(|call| [&call.name, &call.arguments]);
        let hash = texts.fold(0, |hash, text| fold(hash, XxHash3_64::oneshot(text.as_bytes())));
        Action { hash, is_repeated: !calls.is_empty() && !self.actions.insert(hash) }
    }

    /// The call with the description of its element in place of the number.
    fn described(&self, call: &ToolCall<'_>) -> ToolCall<'static> {
        let arguments = &*call.arguments;
        let is_part = |byte: u8| byte.is_ascii_alphanumeric();
        let bytes = arguments.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            while at < bytes.len() && is_part(bytes[at]) {
                at += 1;
            }
            let mut element = None;
            if start < at && at - start <= 6 && bytes[start..at].iter().any(u8::is_ascii_digit) {
                words(&arguments[start..at], |word| element = self.elements.get(&word));
            }
            if let Some(description) = element {
                let named = [&arguments[..start], &pronounced(*description), &arguments[at..]].concat();
                return ToolCall { name: Cow::Owned(call.name.to_string()), arguments: Cow::Owned(named) };
            }
            at = at.max(start + 1);
        }
        ToolCall { name: Cow::Owned(call.name.to_string()), arguments: Cow::Owned(arguments.to_owned()) }
    }

    /// Remembers the lines of a prompt, and tells whether it shows anything new, and what.
    fn add(&mut self, prompt: &RebuiltPrompt, action: &Action) -> (bool, String) {
        if self.shown.len() > MOST_LINES {
            self.shown.clear();
        }
        let Seen { mut page, mut news, again, counts } = self.see(prompt);
        let all: Vec<&Line> = news.iter().map(|new| &new.line).collect();
        let knows_families = self.families.count(&all, self.steps, action);
        news.retain(|new| {
            let is_noise = self.families.are_noise(new.line.family, self.steps);
            if is_noise {
                self.shown.insert(new.line.kept, Shown::Aside);
                page.remove(&new.line.kept);
            }
            !is_noise
        });
        let gone = self.gone(&page, prompt.is_page);
        if self.pages.len() >= PAGES {
            self.pages.pop_front();
        }
        self.pages.push_back(page);
        self.newest = counts;
        if news.is_empty() && gone.is_empty() {
            return (false, again.told().unwrap_or_else(|| self.nothing()));
        }
        let all = || news.iter().map(|new| new.line.kept).chain(gone.iter().copied()).take(MOST_NEWS);
        self.news = all().fold(self.news, fold);
        let is_counter = action.is_repeated && knows_families && news.len() <= MOST_COUNTERS && gone.is_empty();
        let result: Vec<String> = if is_counter {
            // How the numbers move tells whether they say something.
            news.into_iter().map(|new| new.text).collect()
        } else {
            all().map(pronounced).collect()
        };
        (true, result.join("\n"))
    }

    /// The same until something is new: what was done in between came to nothing.
    fn nothing(&self) -> String {
        let words: Vec<String> = (0..WORDS_OF_NOTHING).map(|place| pronounced(fold(self.news, place))).collect();
        words.join(" ")
    }

    /// The lines of the most similar earlier page that are gone for the first time.
    fn gone(&mut self, page: &HashSet<u64>, is_page: bool) -> Vec<u64> {
        let likeness = |other: &HashSet<u64>| {
            let both = other.intersection(page).count();
            both as f64 / (other.len() + page.len() - both).max(1) as f64
        };
        let rated = self.pages.iter().map(|other| (likeness(other), other));
        let Some((_, other)) =
            rated.filter(|(likeness, _)| *likeness >= 0.5).max_by(|one, other| one.0.total_cmp(&other.0))
        else {
            return Vec::new();
        };
        // A window over a history loses lines, too.
        if !is_page && other.len() <= page.len() {
            return Vec::new();
        }
        let mut gone = Vec::new();
        for line in other.difference(page) {
            if self.shown.get(line) == Some(&Shown::Stands) {
                self.shown.insert(*line, Shown::Gone);
                gone.push(*line);
            }
        }
        gone.sort_unstable();
        gone.truncate(MOST_NEWS);
        gone
    }
}

/// A hash as a word that can be spoken.
fn pronounced(hash: u64) -> String {
    let syllable = |place: u32| {
        let bits = (hash >> (6 * place)) as usize;
        [b"bdfghjklmnprstvw"[bits & 15], b"aeio"[bits >> 4 & 3]]
    };
    (0..6).flat_map(syllable).map(char::from).collect()
}
