//! The lines of a prompt and their words, without what changes although the page does not: numbers
//! of elements and steps, ids, times, advertisements.

use std::collections::HashSet;
use std::ops::Range;

use super::tokens::{MASKED, Token, fold, spans, tokens};

/// A longer line holds several pieces: JSON without line ends.
pub(super) const LONGEST_LINE: usize = 300;
/// An object that is spread over more lines is read line by line.
const LONGEST_OBJECT: usize = 12;
/// A longer prompt is read up to here.
const LONGEST_PROMPT: usize = 128 << 10;

/// How many numbers of a line are followed.
pub(super) const MOST_NUMBERS: usize = 8;
pub(super) type Numbers = [f64; MOST_NUMBERS];

/// A line of a prompt.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// A hash of its words and numbers.
    pub(super) kept: u64,
    /// A hash of its words.
    pub(super) family: u64,
    /// Its first numbers.
    pub(super) numbers: Numbers,
    count: usize,
    /// Hashes of the numbers of elements in it, and of their description.
    pub(super) elements: Vec<u64>,
    pub(super) description: u64,
    /// Whether it is a numbered name of a part of the prompt.
    pub(super) is_name: bool,
    /// Where it stands.
    pub(super) place: Range<usize>,
}

/// The lines of a prompt.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    pub(super) lines: Vec<Line>,
    /// All words.
    pub(super) words: HashSet<u64>,
}

impl Sheet {
    pub(super) fn of(text: &str) -> Sheet {
        let text = &text[..text.floor_char_boundary(LONGEST_PROMPT)];
        let mut sheet = Sheet::default();
        pieces(text, |place| sheet.add(text, place));
        sheet
    }

    /// The elements that lines begin with, and their descriptions.
    pub(super) fn elements(&self, text: &str) -> Vec<(u64, u64)> {
        let begins = |line: &&Line| text[line.place.clone()].trim_start().starts_with(['[', '(', '<']);
        let elements = |line: &Line| line.elements.first().map(|element| (*element, line.description));
        self.lines.iter().filter(begins).filter_map(elements).collect()
    }

    fn add(&mut self, text: &str, place: Range<usize>) {
        let mut line = Line::at(place.clone());
        let (mut is_described, mut is_advertisement, mut count) = (false, false, 0);
        tokens(&text[place], |token| {
            count += 1;
            self.words.extend(token.hash());
            if let Token::Word { is_state, sells, .. } = token {
                is_advertisement |= sells;
                is_described |= is_state;
            }
            line.add(token);
            if !is_described {
                line.description = line.kept;
            }
        });
        if count > 0 && !is_advertisement {
            self.lines.push(line);
        }
    }
}

impl Line {
    pub(super) fn at(place: Range<usize>) -> Line {
        Line {
            kept: 0,
            family: 0,
            numbers: [0.0; MOST_NUMBERS],
            count: 0,
            elements: Vec::new(),
            description: 0,
            is_name: false,
            place,
        }
    }

    pub(super) fn add(&mut self, token: Token) {
        let (kept, family) = match token {
            Token::Word { hash, .. } => (hash, hash),
            Token::Number { hash, value } => {
                if let Some(number) = self.numbers.get_mut(self.count) {
                    *number = value;
                }
                self.count += 1;
                (hash, MASKED)
            }
            Token::Element { hash } => return self.elements.push(hash),
            Token::Name => {
                self.is_name = true;
                (MASKED, MASKED)
            }
            Token::Volatile => (MASKED, MASKED),
        };
        self.kept = fold(self.kept, kept);
        self.family = fold(self.family, family);
    }
}

/// The words of a line as they are compared, in lower case.
pub(super) fn comparable(line: &str) -> String {
    let mut words = String::with_capacity(line.len());
    let mut last = 0;
    spans(line, |span, token| {
        if !matches!(token, Token::Element { .. } | Token::Volatile | Token::Name) {
            if last > 0 {
                words.push(' ');
            }
            words.push_str(&line[span.clone()]);
        }
        last = span.end;
    });
    words
}

/// Visits the hashes of the words and numbers of a text.
pub(super) fn words(text: &str, mut visit: impl FnMut(u64)) {
    tokens(text, |token| {
        if let Some(hash) = token.hash() {
            visit(hash);
        }
    });
}

/// Visits the lines of a text. Long lines are cut where JSON ends a value, and a small object that
/// is spread over several lines is one.
fn pieces(text: &str, mut visit: impl FnMut(Range<usize>)) {
    let mut object: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let place = at..at + line.len();
        at = place.end;
        let trimmed = line.trim();
        let opens = trimmed.ends_with('{') && trimmed.len() <= 40;
        if let Some(first) = object.first() {
            if trimmed.starts_with('}') {
                visit(first.start..place.end);
                object.clear();
                continue;
            }
            if opens || trimmed.ends_with('[') || object.len() >= LONGEST_OBJECT {
                object.drain(..).for_each(&mut visit);
            }
        }
        if opens || !object.is_empty() {
            object.push(place);
        } else if line.len() > LONGEST_LINE {
            cut(text, place, &mut visit);
        } else {
            visit(place);
        }
    }
    object.drain(..).for_each(&mut visit);
}

/// Cuts a long line behind values of JSON and at line ends that are escaped.
fn cut(text: &str, place: Range<usize>, visit: &mut impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let mut start = place.start;
    let mut at = place.start;
    while at < place.end {
        let end = match &bytes[at..place.end] {
            [b'"', b',', b' ' | b'"', ..] => at + 2,
            [b'}', b',' | b']', ..] => at + 2,
            [b'\\', b'n', ..] => at + 2,
            _ => {
                at += 1;
                continue;
            }
        };
        visit(start..end);
        (start, at) = (end, end);
    }
    if start < place.end {
        visit(start..place.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> Vec<u64> {
        Sheet::of(text).lines.iter().map(|line| line.kept).collect()
    }

    #[test]
    fn what_changes_on_the_same_page_is_no_part_of_a_line() {
        for (one, other) in [
            ("[12] link 'Next'", "[97] link 'Next'"),
            ("<el id=\"241\" role=\"button\">Go</el>", "<el id=\"7\" role=\"button\">Go</el>"),
            ("{\"index\": 12, \"text\": \"Go\"}", "{\"index\": 9, \"text\": \"Go\"}"),
            ("* (31) link — Details", "* (8) link — Details"),
            ("Step 31 of 200", "Step 32 of 200"),
            ("<step n=\"4\">", "<step n=\"5\">"),
            ("[[ ## tool_name_4 ## ]]", "[[ ## tool_name_5 ## ]]"),
            ("<entry_7>", "<entry_8>"),
            ("\"steps_left\": 41", "\"steps_left\": 40"),
            ("updated 09:01:13", "updated 10:44:02"),
            ("saved 8 seconds ago", "saved 12 seconds ago"),
            ("URL: http://a.example/?sid=2ee917b26c", "URL: http://a.example/?sid=7fbed8627d"),
            ("Ad: sofas", "Ad: tyres"),
            ("  {\n   \"id\": 204,\n   \"text\": \"Go\"\n  }", "  {\n   \"id\": 9,\n   \"text\": \"Go\"\n  }"),
        ] {
            assert_eq!(kept(one), kept(other), "{one} | {other}");
        }
    }

    #[test]
    fn what_the_page_says_is_kept() {
        for (one, other) in [
            ("Showing 460 of 1200", "Showing 480 of 1200"),
            ("textbox 'Name', value=''", "textbox 'Name', value='Ada'"),
            ("Inbox (889)", "Inbox (888)"),
            ("saved as part_4.csv", "saved as part_5.csv"),
            ("2026-05-03 | 127.60", "2026-05-04 | 127.60"),
            ("Address: 12 Mill Lane", "Address: 14 Mill Lane"),
        ] {
            assert_ne!(kept(one), kept(other), "{one} | {other}");
        }
    }

    #[test]
    fn long_lines_are_cut_and_every_text_is_read() {
        let item = "{\"thought\": \"so\", \"text\": \"first\\nsecond\"}, ";
        assert!(Sheet::of(&item.repeat(20)).lines.len() > 40);
        for text in ["", "\n\n", "é[12]ü", "[[[[", "{\n{\n{", "12", "\\", "\\n", "{\"a\":\"ü\",\"b\":\"é\"}"] {
            Sheet::of(text);
            comparable(text);
        }
    }
}
