//! Whether a program wrote a prompt: a supervisor that starts an agent again and again names the
//! run and the time, or the commit beside a task. No user writes an id and a time, however short
//! the prompt is, and few write a task and an id.

use std::borrow::Cow;

use crate::fingerprint::digest::{Word, Words};
use crate::fingerprint::normalise::{ID_MASK, Numbers, TIME_MASK, words_of};

/// A time of day with seconds, as in other formats of dates.
const CLOCK: &str = "<NUM>:<NUM>:<NUM>";

/// Whether `prompt` contains an id, and a time or more than a question. People quote only one of
/// them: an order, a day.
pub(super) fn is_stamped(prompt: &[Cow<'_, str>], is_brief: bool) -> bool {
    let mut stamp = Stamp::default();
    words_of(prompt.iter().map(Cow::as_ref), Numbers::Masked, &mut stamp);
    stamp.has_id && (stamp.has_time || !is_brief)
}

#[derive(Debug, Default)]
struct Stamp {
    has_id: bool,
    has_time: bool,
}

impl Words for Stamp {
    fn word(&mut self, word: Word<'_>) {
        let holds = |mask: &str| word.bytes.windows(mask.len()).any(|part| part == mask.as_bytes());
        self.has_id |= holds(ID_MASK);
        self.has_time |= holds(TIME_MASK) || holds(CLOCK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_and_a_time_are_a_stamp() {
        let check =
            |expected: bool, prompt: &'static str| assert_eq!(is_stamped(&[prompt.into()], true), expected, "{prompt}");
        check(true, "Deploy it. [run 550e8400-e29b-41d4-a716-446655440000 at Tue, 17 Nov 2026 23:55:32 GMT]");
        check(true, "run=01JCX3V5Q2Z8K4M6N7P9R0S1T2 2026-11-17T23:55:32Z deploy it");
        check(false, "Where is my parcel 550e8400-e29b-41d4-a716-446655440000?");
        check(false, "What happened at 2026-11-17T23:55:32Z?");
        check(false, "Hello");
        let task = "Commit 8715e81bfade11d3189ede959b67b56541c1283d: import the supplier file into the catalogue";
        assert!(is_stamped(&[task.into()], false) && !is_stamped(&["Import the supplier file".into()], false));
    }
}
