//! What a prompt shows: new lines, and what came of a step in known ones.

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};

use super::{Run, Shown};
use crate::request::rebuilt::RebuiltPrompt;
use crate::request::rebuilt::besides::besides;
use crate::request::rebuilt::lines::{Line, comparable};

/// What came of a step before has at most so many lines.
const MOST_AGAIN: usize = 3;

/// What a prompt shows.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) page: HashSet<u64>,
    pub(super) news: Vec<New>,
    /// What it says once more.
    pub(super) again: Again,
    /// How often each line stands in it.
    pub(super) counts: HashMap<u64, u32>,
}

/// Known lines that a prompt shows more often than the one before.
#[derive(Debug, Default)]
pub(super) struct Again {
    text: String,
    lines: usize,
}

impl Again {
    fn add(&mut self, text: &str) {
        self.lines += 1;
        if self.lines <= MOST_AGAIN {
            self.text.push_str(text);
            self.text.push('\n');
        }
    }

    /// What they say; `None` if there are none, or so many that they are another page.
    pub(super) fn told(self) -> Option<String> {
        (1..=MOST_AGAIN).contains(&self.lines).then_some(self.text)
    }
}

/// A line that is new.
#[derive(Debug)]
pub(super) struct New {
    pub(super) line: Line,
    pub(super) text: String,
}

impl Run {
    /// Looks at the lines of a prompt.
    pub(super) fn see(&mut self, prompt: &RebuiltPrompt) -> Seen {
        let mut seen = Seen::default();
        self.elements.clear();
        self.elements.extend(prompt.elements.iter().copied());
        for line in &prompt.sheet.lines {
            let count = seen.counts.entry(line.kept).or_default();
            *count += 1;
            let is_again = *count > self.newest.get(&line.kept).copied().unwrap_or_default();
            let shown = match self.shown.get(&line.kept) {
                Some(Shown::Stands | Shown::Gone) if is_again && !line.is_name && !prompt.is_page => {
                    match besides(&prompt.text, line.place.clone(), &self.said) {
                        None => seen.again.add(&comparable(&prompt.text[line.place.clone()])),
                        Some(rest) if rest.words > 0 => seen.again.add(&rest.text),
                        Some(_) => {}
                    }
                    Shown::Stands
                }
                Some(shown) => *shown,
                None => self.see_first(prompt, line, &mut seen),
            };
            if matches!(shown, Shown::Stands | Shown::Gone) {
                seen.page.insert(line.kept);
            }
            if shown != Shown::Aside {
                self.elements.extend(line.elements.iter().map(|element| (*element, line.description)));
            }
        }
        seen
    }

    /// Looks at a line that was not shown before: what it repeats of the answers is not new.
    fn see_first(&mut self, prompt: &RebuiltPrompt, line: &Line, seen: &mut Seen) -> Shown {
        let Some(rest) = besides(&prompt.text, line.place.clone(), &self.said) else {
            let text = comparable(&prompt.text[line.place.clone()]);
            seen.news.push(New { line: line.clone(), text });
            self.shown.insert(line.kept, Shown::Stands);
            return Shown::Stands;
        };
        if rest.words == 0 {
            self.shown.insert(line.kept, Shown::Aside);
            return Shown::Aside;
        }
        self.shown.insert(line.kept, Shown::Partly);
        match self.shown.entry(rest.line.kept) {
            Entry::Occupied(_) => seen.again.add(&rest.text),
            Entry::Vacant(entry) => {
                entry.insert(Shown::Stands);
                seen.news.push(New { line: rest.line, text: rest.text });
            }
        }
        Shown::Partly
    }
}
