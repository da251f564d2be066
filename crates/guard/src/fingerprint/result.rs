//! What a tool gave, seen in three lights: as it is, without what is volatile, and without any
//! number. How its numbers move from one time to the next tells progress (failures that fall, a
//! percentage that rises) from jitter.

use std::sync::LazyLock;

use model::ResultPrint;

use crate::normalise::{Numbers, words_of};
use crate::words::{Word, Words, fold};

mod volatile;

use volatile::{Token, tokens};

/// Stands for what is volatile, and in the light without numbers for every number.
const MASKED: u64 = 0x6d61_736b_6564_0001;

/// What is kept of the results of one step, and how many seconds they say that was waited. Their
/// order says nothing: parallel calls come back in any.
pub(super) fn of_results<'t>(results: impl Iterator<Item = &'t str>) -> (ResultPrint, u16) {
    let mut prints: Vec<(ResultPrint, u16)> = results.map(of_result).collect();
    if let [print] = prints[..] {
        return print;
    }
    prints.sort_unstable_by_key(|(print, _)| (print.shape, print.kept));
    let mut all = (ResultPrint { is_empty: true, is_short: true, ..ResultPrint::default() }, 0);
    for (print, waited) in prints {
        let both = |one: u32, other: u32| fold(u64::from(one), u64::from(other)) as u32;
        all.0.shape = both(all.0.shape, print.shape);
        all.0.kept = both(all.0.kept, print.kept);
        all.0.numbers = std::array::from_fn(|place| all.0.numbers[place] + print.numbers[place]);
        all.0.is_empty &= print.is_empty;
        all.0.is_short &= print.is_short;
        all.1 = all.1.max(waited);
    }
    (ResultPrint { gist: all.0.shape, ..all.0 }, all.1)
}

fn of_result(result: &str) -> (ResultPrint, u16) {
    let mut lights = Lights::new();
    words_of([result], Numbers::Kept, &mut lights);
    lights.settle(b"");
    let waited = lights.waited;
    (lights.finish(), waited)
}

/// The lights as the words of a result pass.
struct Lights {
    keys: &'static Keys,
    shape: u64,
    kept: u64,
    numbers: Trend,
    /// The word before, if it ended with a number that may turn out to be a duration.
    waiting: Option<Waiting>,
    /// What the word before says of this one.
    before: Says,
    /// Whether the word before is part of a list of volatile numbers that goes on.
    list_goes_on: bool,
    /// How many words there are that are no tags.
    words: u32,
    /// Whether the result began with a header of the client that has not ended.
    is_headed: bool,
    /// Whether the words belong to what a client adds about itself.
    is_aside: bool,
    waited: u16,
}

/// A result of fewer words is a state or a label.
const SHORT_WORDS: u32 = 8;

/// More words are none of a header.
const LONGEST_HEADER: u32 = 24;

/// What clients add to results: the time, open files, how much of the context is used.
const ASIDE: (&[u8], &[u8]) = (b"<environment_details>", b"</environment_details>");

/// A word whose last number waits for the word behind it.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    shape: u64,
    /// The word's hash up to its last number, and that number.
    kept: u64,
    number: (u64, f64),
    /// Whether the word before says that time passed: `Wall time: 30.0 seconds`.
    is_wait: bool,
    /// Whether the number stands in brackets: before a time it is that of a process.
    is_bracketed: bool,
    /// Whether it may be a time in seconds since 1970.
    is_epoch: bool,
}

impl Lights {
    fn new() -> Lights {
        Lights {
            keys: &KEYS,
            shape: 0,
            kept: 0,
            numbers: Trend::default(),
            waiting: None,
            before: 0,
            list_goes_on: false,
            words: 0,
            is_headed: false,
            is_aside: false,
            waited: 0,
        }
    }

    fn add(&mut self, shape: u64, kept: u64) {
        self.shape = fold(self.shape, shape);
        self.kept = fold(self.kept, kept);
    }

    /// The word that waited, now that the word behind it is known.
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
        self.add(waiting.shape, fold(waiting.kept, hash));
    }

    fn finish(self) -> ResultPrint {
        ResultPrint {
            shape: self.shape as u32,
            kept: self.kept as u32,
            gist: self.shape as u32,
            numbers: self.numbers.finish(),
            is_empty: self.words == 0,
            is_short: self.words < SHORT_WORDS,
        }
    }

    /// A word with digits in it: what is volatile is masked, the other numbers are looked at.
    fn word_with_digits(&mut self, bytes: &[u8]) {
        let (mut shape, mut kept, mut last) = (0, 0, None);
        let is_volatile = self.list_goes_on || self.before & VOLATILE != 0;
        self.list_goes_on = is_volatile && bytes.ends_with(b",");
        let (bytes, is_bracketed) = volatile::without_bracket(bytes);
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
}

impl Words for Lights {
    fn word(&mut self, word: Word<'_>) {
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
        let says = self.keys.says(word.hash);
        if self.before & ID != 0 && volatile::may_be_id(word.bytes, word.has_digits) {
            self.add(MASKED, MASKED);
        } else if word.has_digits {
            self.word_with_digits(volatile::without_temporary_name(word.bytes));
        } else if says & CALENDAR != 0 {
            self.add(MASKED, MASKED);
        } else {
            self.add(word.hash, word.hash);
        }
        self.before = says | if volatile::names_id(word.bytes) { ID } else { 0 };
    }
}

/// The numbers of a result, as much of them as tells whether they move: the first two, and all of
/// them weighed together.
#[derive(Debug, Default)]
struct Trend {
    first: [f32; 2],
    blend: f64,
    count: u32,
}

impl Trend {
    fn add(&mut self, value: f64) {
        if let Some(place) = self.first.get_mut(self.count as usize) {
            *place = value as f32;
        }
        self.count += 1;
        // Weights that fall with the place: two numbers that change against each other do not
        // cancel out.
        self.blend += value / f64::from(self.count);
    }

    fn finish(self) -> [f32; 3] {
        [self.first[0], self.first[1], self.blend as f32]
    }
}

/// What a word says of the word behind it: a bit for each.
type Says = u8;

const VOLATILE: Says = 1;
const CALENDAR: Says = 1 << 1;
const ID: Says = 1 << 2;
const WAIT: Says = 1 << 3;
const AMOUNT: Says = 1 << 4;

/// Words by their hashes.
struct Keys {
    /// A bit for each hash that may be known, by its upper bits: nearly every word is in no list,
    /// which is soon told.
    filter: Vec<u64>,
    known: Vec<(u64, Says)>,
}

/// How many of the upper bits of a hash choose its bit.
const FILTER_BITS: u32 = 14;

static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let mut keys = Keys { filter: vec![0; 1 << (FILTER_BITS - 6)], known: Vec::new() };
    keys.add(VOLATILE, &volatile::KEYS, &["", ":", "="]);
    keys.add(WAIT, &["time", "waited", "slept"], &["", ":"]);
    keys.add(AMOUNT, &["size", "processed", "bytes", "total", "count", "offset", "rows", "copied", "read"], &["", ":"]);
    keys.add(CALENDAR, &volatile::CALENDAR, &["", ","]);
    keys.add(ID, &["id", "hash", "commit", "sha", "digest", "token", "session", "revision"], &["", ":", "="]);
    keys.known.sort_unstable();
    keys
});

impl Keys {
    fn add(&mut self, says: Says, words: &[&str], ends: &[&str]) {
        for word in words {
            for form in ends.iter().flat_map(|end| ["", "(", "["].map(|start| format!("{start}{word}{end}"))) {
                let hash = word_hash(&form);
                let (place, bit) = Keys::place(hash);
                self.filter[place] |= bit;
                self.known.push((hash, says));
            }
        }
    }

    /// Where the bit of a hash stands.
    fn place(hash: u64) -> (usize, u64) {
        let number = hash >> (u64::BITS - FILTER_BITS);
        ((number / 64) as usize, 1 << (number % 64))
    }

    #[inline]
    fn says(&self, hash: u64) -> Says {
        let (place, bit) = Keys::place(hash);
        if self.filter[place] & bit == 0 { 0 } else { self.look_up(hash) }
    }

    #[inline(never)]
    fn look_up(&self, hash: u64) -> Says {
        let first = self.known.partition_point(|(known, _)| *known < hash);
        let same = self.known[first..].iter().take_while(|(known, _)| *known == hash);
        same.fold(0, |all, (_, says)| all | says)
    }
}

/// The hash that a word of its own has.
fn word_hash(word: &str) -> u64 {
    struct Last(u64);
    impl Words for Last {
        fn word(&mut self, word: Word<'_>) {
            self.0 = word.hash;
        }
    }
    let mut last = Last(0);
    words_of([word], Numbers::Kept, &mut last);
    last.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lights(text: &str) -> ResultPrint {
        of_results([text].into_iter()).0
    }

    #[test]
    fn volatile_parts_make_no_result_new() {
        for (one, other) in [
            (
                "Chunk ID: 4fe6ad\nWall time: 0.0521 seconds\nProcess exited with code 0",
                "Chunk ID: 91bc0e\nWall time: 1.2043 seconds\nProcess exited with code 0",
            ),
            ("started pid 4242 on port 51234", "started pid 977 on port 40000"),
            ("pid=4242 failed", "pid=88 failed"),
            ("[14:03:22] failed", "[14:05:01] failed"),
            ("at 2:03 PM it failed", "at 11:59 PM it failed"),
            ("Tue, 17 Nov 2026 23:55:32 GMT error", "Wed, 18 Nov 2026 00:01:02 GMT error"),
            ("3 failed in 0.43s", "3 failed in 12.1s"),
            ("3 failed in 430 ms", "3 failed in 71 ms"),
            ("took 3m12s", "took 4m01s"),
            ("connect to 10.0.0.7:51344 refused", "connect to 10.0.12.9:4000 refused"),
            ("connect to [2001:db8::1] refused", "connect to [fe80::12ab:1] refused"),
            ("object at 0x7f3a12bc8d10 lost", "object at 0x7f3a99bc0e50 lost"),
            ("{\"ts\":1763423732,\"state\":\"queued\"}", "{\"ts\":1763423999,\"state\":\"queued\"}"),
            ("{\"ts\":1763423732123,\"state\":\"queued\"}", "{\"ts\":1763423999001,\"state\":\"queued\"}"),
            ("wrote /tmp/tmp8x2m0q1z/out", "wrote /tmp/tmpq1w2e3r4/out"),
            ("request req_8f3kd92x failed", "request req_1p2kz9aa failed"),
            ("attempt 3 failed", "attempt 4 failed"),
            ("elapsed: 17 state: queued", "elapsed: 44 state: queued"),
            ("17/Nov/2026:23:55:32 +0000 GET", "18/Nov/2026:01:05:02 +0000 GET"),
            ("11/17/2026 11:55 AM", "12/01/2026 01:02 AM"),
            ("commit 9f86d08 is bad", "commit 1c2d3e4 is bad"),
            ("Chunk ID: 170bee Output:", "Chunk ID: e97c31 Output:"),
            ("Chunk ID: fabcde Output:", "Chunk ID: e97c31 Output:"),
            ("denied (RequestId: 3TKFSP0BDKAXA68T, x)", "denied (RequestId: RHWWVHNQMBCRPZK9, x)"),
            ("load average: 0.57, 0.37, 0.69", "load average: 1.91, 0.04, 2.30"),
            ("[57058] 11/Mar/2026 09:14:19 AM closed", "[3083] 11/Mar/2026 09:14:20 AM closed"),
            ("{\"output\":\"[57058] 2026-03-11 09:14:19 closed\"}", "{\"output\":\"[83] 2026-03-12 10:14:19 closed\"}"),
            ("sshd[4242]: closed", "sshd[91]: closed"),
            ("[13379] worker: broker closed", "[631] worker: broker closed"),
            ("{\"duration_us\":5446,\"a\":1}", "{\"duration_us\":1878,\"a\":1}"),
            (
                "addr=0x30 pc=0xeae7ef] goroutine 2 [running]: +0x6c",
                "addr=0xf7 pc=0x120746] goroutine 50 [running]: +0x40",
            ),
            (
                "text <environment_details> Context: 21800 tokens </environment_details>",
                "text <environment_details> Context: 22700 tokens </environment_details>",
            ),
            ("1763423732 starting", "1763423999 starting"),
        ] {
            let (one_print, other_print) = (lights(one), lights(other));
            assert_eq!((one_print.shape, one_print.kept), (other_print.shape, other_print.kept), "{one:?} {other:?}");
        }
    }

    #[test]
    fn numbers_that_say_something_are_kept() {
        for (one, other) in [
            ("12 failed, 3 passed", "11 failed, 4 passed"),
            ("progress: 41%", "progress: 42%"),
            ("{\"page\":2,\"rows\":50}", "{\"page\":3,\"rows\":50}"),
            ("error at line main.rs:12:5", "error at line main.rs:19:5"),
            ("1,024 bytes written", "2,048 bytes written"),
            ("score 0.71", "score 0.72"),
            ("processed 1760213441 of 2100000000", "processed 1760213999 of 2100000000"),
            ("-rw-r--r-- 1 dev dev 1760213441 Mar 11 a.iso", "-rw-r--r-- 1 dev dev 1760219999 Mar 11 a.iso"),
            ("[12] rows", "[13] rows"),
            ("[14]<button>", "[15]<button>"),
            ("valid: 3", "valid: 4"),
        ] {
            let (one_print, other_print) = (lights(one), lights(other));
            assert_eq!(one_print.shape, other_print.shape, "{one:?} {other:?}");
            assert_ne!(one_print.kept, other_print.kept, "{one:?} {other:?}");
            assert_ne!(one_print.numbers, other_print.numbers, "{one:?} {other:?}");
        }
    }

    #[test]
    fn other_words_are_another_result() {
        for (one, other) in [("3 failed", "3 passed"), ("a b", "ab"), ("running", "done"), ("x.rs", "y.rs")] {
            assert_ne!(lights(one).shape, lights(other).shape, "{one:?} {other:?}");
        }
    }

    #[test]
    fn what_is_empty_says_so() {
        for text in ["", " \n", "\t"] {
            assert!(lights(text).is_empty, "{text:?}");
        }
        assert!(!lights("0").is_empty);
    }
}
