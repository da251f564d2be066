//! Finds any of a few dozen phrases in a text, in any case, in one pass over it.

/// The most phrases of one set: a bit for each fits into one number.
const MOST: usize = u64::BITS as usize;

/// A set of phrases in lower case, each of them three bytes or longer.
pub(super) struct Phrases<const N: usize> {
    pub(super) phrases: [&'static str; N],
    /// For the first three bytes of a phrase: which phrases have this byte there, a bit for each.
    first: [[u64; 256]; 3],
}

impl<const N: usize> Phrases<N> {
    pub(super) const fn new(phrases: [&'static str; N]) -> Phrases<N> {
        assert!(N <= MOST, "so many phrases do not fit into one number");
        let (mut first, mut place) = ([[0; 256]; 3], 0);
        while place < N * 3 {
            let (phrase, at) = (place / 3, place % 3);
            let byte = phrases[phrase].as_bytes()[at];
            first[at][byte as usize] |= 1 << phrase;
            first[at][byte.to_ascii_uppercase() as usize] |= 1 << phrase;
            place += 1;
        }
        Phrases { phrases, first }
    }

    /// Whether one of them stands in `text` where `counts` accepts what is before and behind it.
    #[inline]
    pub(super) fn any(&self, text: &[u8], counts: impl Fn(&[u8], &[u8]) -> bool) -> bool {
        let [one, two, three] = &self.first;
        for (at, bytes) in text.array_windows().enumerate() {
            let [a, b, c]: &[u8; 3] = bytes;
            let begun = one[usize::from(*a)] & two[usize::from(*b)] & three[usize::from(*c)];
            if begun != 0 && self.starts_with_one(text, at, begun, &counts) {
                return true;
            }
        }
        false
    }

    /// Whether a phrase with a bit in `begun` stands in `text` at `at` and counts.
    #[cold]
    fn starts_with_one(&self, text: &[u8], at: usize, mut begun: u64, counts: &impl Fn(&[u8], &[u8]) -> bool) -> bool {
        let (before, text) = text.split_at(at);
        while begun != 0 {
            let phrase = self.phrases[begun.trailing_zeros() as usize].as_bytes();
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
    fn phrase_counts_only_with_accepted_neighbours() {
        const PHRASES: Phrases<1> = Phrases::new(["results"]);
        let is_none = |before: &[u8], after: &[u8]| before.ends_with(b"no ") && after.starts_with(b".");
        assert!(PHRASES.any(b"10 results, then no results.", is_none));
        assert!(!PHRASES.any(b"no results yet", is_none));
    }
}
