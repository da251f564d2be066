//! What a line says besides what the model said: one line may hold a thought, an action and what
//! came of it.

use std::collections::VecDeque;
use std::ops::Range;

use super::lines::Line;
use super::said::Said;
use super::tokens::{Token, spans};

/// The number of an entry is among so many words at its beginning.
const NUMBERED: usize = 2;

/// A line without the words of answers, and without the number that it gives to one of them.
#[derive(Debug)]
pub(super) struct Besides {
    pub(super) line: Line,
    /// Its words, to be compared.
    pub(super) text: String,
    /// How many words there are.
    pub(super) words: usize,
}

/// The rest of the line at `place`, apart from what `said` says; `None` if it repeats none of it.
pub(super) fn besides(text: &str, place: Range<usize>, said: &VecDeque<Said>) -> Option<Besides> {
    let mut all: Vec<(Range<usize>, Token)> = Vec::new();
    spans(&text[place.clone()], |span, token| all.push((span, token)));
    let hashes: Vec<(usize, u64)> =
        all.iter().enumerate().filter_map(|(at, (_, token))| Some((at, token.hash()?))).collect();
    let mut is_echo = vec![false; all.len()];
    for [(one_at, one), (next_at, next)] in hashes.array_windows() {
        if said.iter().any(|said| said.has_pair(*one, *next)) {
            (is_echo[*one_at], is_echo[*next_at]) = (true, true);
        }
    }
    // A word of the newest action is told from what came of it.
    for (at, hash) in hashes {
        is_echo[at] |= said.back().is_some_and(|said| said.acts_on(hash));
    }
    let first = is_echo.iter().position(|is_echo| *is_echo)?;
    let mut rest = Besides { line: Line::at(place.clone()), text: String::new(), words: 0 };
    for (at, (span, token)) in all.into_iter().enumerate().filter(|(at, _)| !is_echo[*at]) {
        // An entry of a history begins with its number.
        let numbers_entry = at < first.min(NUMBERED) && matches!(token, Token::Number { .. });
        if numbers_entry || matches!(token, Token::Element { .. } | Token::Volatile | Token::Name) {
            continue;
        }
        rest.line.add(token);
        rest.words += 1;
        let line = &text[place.clone()];
        // The name of a tag says nothing.
        if line[..span.start].ends_with(['<', '/']) {
            continue;
        }
        if !rest.text.is_empty() {
            rest.text.push(' ');
        }
        rest.text.push_str(&line[span]);
    }
    Some(rest)
}
