//! Reads the words of one result and makes all its hashes in one pass.

use model::ResultPrint;

use super::keywords::{AMOUNT, CALENDAR, Hints, ID, KEYWORDS, Keywords, VOLATILE, WAIT};
use super::tokens::{Token, tokens};
use super::volatile;
use crate::fingerprint::digest::{Word, Words, fold};

/// Replaces whatever is volatile, and in `shape` every number.
const MASKED: u64 = 0x6d61_736b_6564_0001;

/// The hashes of a result while its words are read.
pub(super) struct ResultHasher {
    keywords: &'static Keywords,
    shape: u64,
    kept: u64,
    numbers: Trend,
    /// The previous word, if it ended with a number whose meaning depends on the next word.
    waiting: Option<Waiting>,
    /// What the previous word says about this one.
    before: Hints,
    /// Whether the previous word belongs to a list of volatile numbers that continues.
    list_goes_on: bool,
    /// How many words were read, without tags.
    words: u32,
    /// Whether the result began with a header of the client that has not ended.
    is_headed: bool,
    /// Whether the words belong to a block that a client adds about its own state.
    is_aside: bool,
    /// Whether an ordinary word can be added without further tests.
    is_quiet: bool,
    waited: u16,
}

/// A result of fewer words is a state or a label.
const SHORT_WORDS: u32 = 8;

/// The beginning of a generated name.
const TEMPORARY: &[u8] = b"/tmp/tmp";

/// A header has fewer words.
const LONGEST_HEADER: u32 = 24;

/// What clients add to results: the time, open files, how much of the context is used.
const ASIDE: (&[u8], &[u8]) = (b"<environment_details>", b"</environment_details>");

/// A word whose last number is decided by the next word.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    shape: u64,
    /// The word's hash up to its last number, and that number.
    kept: u64,
    number: (u64, f64),
    /// Whether the previous word says that time passed: `Wall time: 30.0 seconds`.
    is_wait: bool,
    /// Whether the number stands in brackets: before a time it is that of a process.
    is_bracketed: bool,
    /// Whether it may be a time in seconds since 1970.
    is_epoch: bool,
}

impl ResultHasher {
    pub(super) fn new() -> ResultHasher {
        ResultHasher {
            keywords: &KEYWORDS,
            shape: 0,
            kept: 0,
            numbers: Trend::default(),
            waiting: None,
            before: 0,
            list_goes_on: false,
            words: 0,
            is_headed: false,
            is_aside: false,
            is_quiet: false,
            waited: 0,
        }
    }

    fn add(&mut self, shape: u64, kept: u64) {
        self.shape = fold(self.shape, shape);
        self.kept = fold(self.kept, kept);
    }

    /// Adds the waiting word, now that the next one is known.
    fn settle(&mut self, next: &[u8]) {
        let Some(waiting) = self.waiting.take() else { return };
        let (hash, value) = waiting.number;
        if waiting.is_bracketed && (volatile::is_time(next) || next.ends_with(b":")) {
            return self.add(waiting.shape, fold(waiting.kept, MASKED));
        }
        if waiting.is_epoch && !volatile::tells_amount(next) {
            return self.add(waiting.shape, fold(waiting.kept, MASKED));
        }
        if !waiting.is_bracketed && volatile::is_time_unit(next) {
            if waiting.is_wait {
                self.waited = self.waited.max(value as u16);
            }
            return self.add(waiting.shape, fold(waiting.kept, MASKED));
        }
        self.numbers.add(value);
        self.numbers.are_sizes |= volatile::is_size_unit(next);
        self.add(waiting.shape, fold(waiting.kept, hash));
    }

    /// The print of the whole result, and how many seconds of waiting it reports.
    pub(super) fn finish(mut self) -> (ResultPrint, u16) {
        // A result that is only a number is the requested value, not a time.
        if let Some(waiting) = self.waiting.as_mut().filter(|_| self.words == 1) {
            waiting.is_epoch = false;
        }
        self.settle(b"");
        let print = ResultPrint {
            shape: self.shape as u32,
            kept: self.kept as u32,
            gist: self.shape as u32,
            numbers: self.numbers.finish(),
            is_empty: self.words == 0,
            is_short: self.words < SHORT_WORDS,
        };
        (print, self.waited)
    }

    /// Adds a word with digits: volatile numbers are masked, the others are kept.
    fn word_with_digits(&mut self, bytes: &[u8]) {
        let (mut shape, mut kept, mut last) = (0, 0, None);
        let is_volatile = self.list_goes_on || self.before & VOLATILE != 0;
        self.list_goes_on = is_volatile && bytes.ends_with(b",");
        let (bytes, is_bracketed) = volatile::without_bracket(bytes);
        self.numbers.are_sizes |= volatile::holds_size(bytes);
        for token in tokens(bytes, is_volatile || self.before & CALENDAR != 0) {
            if let Some((hash, value)) = last.take() {
                self.numbers.add(value);
                kept = fold(kept, hash);
            }
            match token {
                Token::Text(hash) => (shape, kept) = (fold(shape, hash), fold(kept, hash)),
                Token::Volatile => (shape, kept) = (fold(shape, MASKED), fold(kept, MASKED)),
                Token::Number(hash, value) => {
                    shape = fold(shape, MASKED);
                    last = Some((hash, value));
                }
            }
        }
        match last {
            Some(number) => {
                let is_wait = self.before & WAIT != 0;
                let is_epoch = volatile::is_epoch_seconds(number.1) && self.before & AMOUNT == 0;
                self.waiting = Some(Waiting { shape, kept, number, is_wait, is_bracketed, is_epoch });
            }
            None => self.add(shape, kept),
        }
    }

    #[inline(never)]
    fn any_word(&mut self, word: Word<'_>) {
        if self.is_aside || word.bytes == ASIDE.0 {
            self.is_aside = word.bytes != ASIDE.1;
            return;
        }
        // The header that Codex puts before the output of a command.
        let is_header_end = self.is_headed && word.bytes == b"output:" && self.words < LONGEST_HEADER;
        self.is_headed = self.is_headed && !is_header_end || (self.words == 0 && word.bytes == b"chunk");
        if is_header_end {
            self.words = 0;
            return self.add(word.hash, word.hash);
        }
        self.words += u32::from(!(word.bytes.starts_with(b"<") && word.bytes.ends_with(b">")));
        if self.waiting.is_some() {
            self.settle(word.bytes);
        }
        let hints = self.keywords.hints(word.hash);
        // How many tokens the output had before it was cut.
        let is_token_count = self.is_headed && word.has_digits && self.before & AMOUNT != 0;
        if is_token_count || self.before & ID != 0 && volatile::may_be_id(word.bytes, word.has_digits) {
            self.add(MASKED, MASKED);
        } else if word.has_digits {
            let named = volatile::without_temporary_name(word.bytes);
            if named == TEMPORARY { self.add(MASKED, MASKED) } else { self.word_with_digits(named) }
        } else if hints & CALENDAR != 0 || word.bytes.starts_with(TEMPORARY) {
            self.add(MASKED, MASKED);
        } else {
            self.add(word.hash, word.hash);
        }
        let volatile = if volatile::names_volatile(word.bytes) { VOLATILE } else { 0 };
        self.before = hints | volatile | if volatile::names_id(word.bytes) { ID } else { 0 };
    }
}

impl Words for ResultHasher {
    /// Nearly all words have no digits, are in no list and follow a word of the same kind: they
    /// take the short path.
    #[inline]
    fn word(&mut self, word: Word<'_>) {
        let is_mark = matches!(word.bytes, [b'<', ..] | [b'/', b't', ..] | [.., b':' | b'=']);
        if self.is_quiet && !word.has_digits && !is_mark && self.keywords.hints(word.hash) == 0 {
            self.words += 1;
            return self.add(word.hash, word.hash);
        }
        self.any_word(word);
        self.is_quiet =
            !self.is_aside && !self.is_headed && self.words > 0 && self.waiting.is_none() && self.before == 0;
    }
}

/// The numbers of a result, reduced to what shows whether they move: the first two, and a weighted
/// sum of all.
#[derive(Debug, Default)]
struct Trend {
    first: [f32; 2],
    blend: f64,
    count: u32,
    /// Whether there is a size among them, which jitters although nothing happens.
    are_sizes: bool,
}

impl Trend {
    fn add(&mut self, value: f64) {
        if let Some(place) = self.first.get_mut(self.count as usize) {
            *place = value as f32;
        }
        self.count += 1;
        // Weights fall with the position: two numbers that change in opposite directions do not
        // cancel out.
        self.blend += value / f64::from(self.count);
    }

    fn finish(self) -> [f32; 3] {
        // The sign is free: numbers are taken without theirs.
        let blend = if self.are_sizes { -self.blend } else { self.blend };
        [self.first[0], self.first[1], blend as f32]
    }
}
