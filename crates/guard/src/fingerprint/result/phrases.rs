//! Finds any of a few dozen phrases in a text, in whichever case, in one pass over it.

/// By how many bytes phrases are recognised at first: those of all phrases fit into one number.
const FIRST: usize = 3;

/// The most phrases of one set.
const MOST: usize = u128::BITS as usize / FIRST;

/// A set of phrases in lower case, each of them three bytes or longer.
pub(super) struct Phrases<const N: usize> {
    pub(super) phrases: [&'static str; N],
    /// For each byte, in which phrases and where in their first bytes it stands: a bit for each of
    /// those places.
    places: [u128; 256],
    /// The places where phrases begin.
    beginnings: u128,
}

impl<const N: usize> Phrases<N> {
    pub(super) const fn new(phrases: [&'static str; N]) -> Phrases<N> {
        assert!(N <= MOST, "the first bytes of so many phrases do not fit into one number");
        let (mut places, mut beginnings, mut place) = ([0; 256], 0, 0);
        while place < N * FIRST {
            let byte = phrases[place / FIRST].as_bytes()[place % FIRST];
            places[byte as usize] |= 1 << place;
            places[byte.to_ascii_uppercase() as usize] |= 1 << place;
            if place.is_multiple_of(FIRST) {
                beginnings |= 1 << place;
            }
            place += 1;
        }
        Phrases { phrases, places, beginnings }
    }

    /// Whether one of them stands in `text` where `counts` accepts what is before and behind it.
    #[inline]
    pub(super) fn any(&self, text: &[u8], counts: impl Fn(&[u8], &[u8]) -> bool) -> bool {
        // A bit for each place that what was read last fits up to.
        let mut reached = 0;
        for (at, byte) in text.iter().enumerate() {
            reached = (reached << 1 | self.beginnings) & self.places[usize::from(*byte)];
            let begun = reached & (self.beginnings << (FIRST - 1));
            if begun != 0 && self.starts_with_one(text, at + 1 - FIRST, begun, &counts) {
                return true;
            }
        }
        false
    }

    /// Whether one of those that have a bit in `begun` stands in `text` at `at` and counts.
    #[cold]
    fn starts_with_one(&self, text: &[u8], at: usize, mut begun: u128, counts: &impl Fn(&[u8], &[u8]) -> bool) -> bool {
        let (before, text) = text.split_at(at);
        while begun != 0 {
            let phrase = self.phrases[begun.trailing_zeros() as usize / FIRST].as_bytes();
            let is_whole = text.get(..phrase.len()).is_some_and(|start| start.eq_ignore_ascii_case(phrase));
            if is_whole && counts(before, &text[phrase.len()..]) {
                return true;
            }
            begun &= begun - 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_is_found_whole_and_in_any_case() {
        const PHRASES: Phrases<4> = Phrases::new(["not found", "not there", "ошибк", "err"]);
        let finds = |text: &str| PHRASES.any(text.as_bytes(), |_, _| true);
        for text in ["not found", "it is NOT there", "nonot found", "Вот ошибка", "merry"] {
            assert!(finds(text), "{text}");
        }
        for text in ["", "no", "not foun", "not  found", "ошиб", "er r"] {
            assert!(!finds(text), "{text}");
        }
    }

    #[test]
    fn a_phrase_counts_by_what_stands_around_it() {
        const PHRASES: Phrases<1> = Phrases::new(["results"]);
        let is_none = |before: &[u8], after: &[u8]| before.ends_with(b"no ") && after.starts_with(b".");
        assert!(PHRASES.any(b"10 results, then no results.", is_none));
        assert!(!PHRASES.any(b"no results yet", is_none));
    }
}
