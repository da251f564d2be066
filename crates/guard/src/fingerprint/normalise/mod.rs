//! Removes from a text what changes without new content: case, ids, times, numbers, white space.
//! One linear pass that hands on every word as it is read, so that a long text is never copied
//! whole.

mod fold;
mod generated;
mod ids;
mod marks;
mod name_parts;
mod scan;
mod word;

use crate::fingerprint::digest::{Word, Words};

pub use marks::{ID_MASK, NUMBER_MASK, TIME_MASK};

/// How numbers are treated. Ids and times are masked either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// They become `<NUM>`.
    Masked,
    /// They stay: clicking element 242 and then 247 is progress.
    Kept,
}

/// The normalised text, for people and tests: `Order  #12345` → `order #<NUM>`.
pub fn normalise(text: &str, numbers: Numbers) -> String {
    let mut spelled = Spelled::default();
    words_of([text], numbers, &mut spelled);
    String::from_utf8_lossy(&spelled.0).into_owned()
}

/// Hands the words of the normalised `pieces` to `words`. Pieces are separate, as if a line end
/// stood between them. Returns whether a number was masked: if not, the words with numbers kept are
/// the same.
pub(crate) fn words_of<'t>(
    pieces: impl IntoIterator<Item = &'t str>,
    numbers: Numbers,
    words: &mut impl Words,
) -> bool {
    match numbers {
        Numbers::Masked => scan::scan::<_, true>(pieces, words),
        Numbers::Kept => scan::scan::<_, false>(pieces, words),
    }
}

/// Whether a word contains a generated id: `CHG-L7nG5GP9`, `/run/mcp-u6KmYneP.sock`.
pub(crate) fn has_id(word: &str) -> bool {
    let bytes = word.as_bytes();
    let is_start = |at: usize| bytes[at].is_ascii_alphanumeric() && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric());
    (0..bytes.len()).any(|at| is_start(at) && (marks::uuid(bytes, at).is_some() || ids::id(bytes, at).is_some()))
}

/// Joins words to a text again.
#[derive(Default)]
struct Spelled(Vec<u8>);

impl Words for Spelled {
    fn word(&mut self, word: Word<'_>) {
        if word.spaced {
            self.0.push(b' ');
        }
        self.0.extend_from_slice(word.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(cases: &[(&str, &str)], numbers: Numbers) {
        for (text, expected) in cases {
            assert_eq!(normalise(text, numbers), *expected, "{text:?}");
        }
    }

    #[test]
    fn normalize_numbers() {
        let cases = [
            ("Order #12345", "order #<NUM>"),
            ("order #12345", "order #<NUM>"),
            ("3.14 and 1,000 and 1.000.000,5", "<NUM> and <NUM> and <NUM>"),
            ("it is -5 or +5 or (-5)", "it is <NUM> or <NUM> or (<NUM>)"),
            ("5-7, a-5, x=-5", "<NUM>-<NUM>, a-<NUM>, x=<NUM>"),
            ("v2 abc123 abc123xyz gpt-4", "v<NUM> abc<NUM> abc<NUM>xyz gpt-<NUM>"),
            ("0x1f 0xDEADBEEF 0x", "<NUM> <NUM> <NUM>x"),
            ("1e5 1.5E-3 2e 3em", "<NUM> <NUM> <NUM>e <NUM>em"),
            ("5% of $3.", "<NUM>% of $<NUM>."),
            ("at 10:30:00", "at <NUM>:<NUM>:<NUM>"),
            ("[1, 2,3]", "[<NUM>, <NUM>]"),
            ("10.0.0.7:8080", "<NUM>:<NUM>"),
            ("7", "<NUM>"),
            ("-", "-"),
            ("-5-", "<NUM>-"),
        ];
        check(&cases, Numbers::Masked);
    }

    #[test]
    fn numbers_can_be_kept() {
        let cases = [
            ("Click [242] then -5, 3.14, 0x1F, 1E5", "click [242] then -5, 3.14, 0x1f, 1e5"),
            ("seen 2024-01-15T10:30:00Z, day 15", "seen <TS>, day 15"),
            ("550e8400-e29b-41d4-a716-446655440000 7", "<ID> 7"),
        ];
        check(&cases, Numbers::Kept);
    }

    #[test]
    fn normalize_timestamps() {
        let cases = [
            ("2024-01-15T10:30:00Z", "<TS>"),
            ("at 2024-01-15T10:30:00.123456+01:00.", "at <TS>."),
            ("2024-01-15t10:30:00,5z", "<TS>"),
            ("2024-01-15 10:30", "<TS>"),
            ("2024-01-15 10:30:00 -0500", "<TS> <NUM>"),
            ("2024-01-15T10:30:00-0500", "<TS>"),
            ("2024-01-15T10:30:00+01", "<TS>"),
            ("20240115T103000Z 20240115T1030 20240115", "<TS> <TS> <NUM>"),
            ("due 2024-01-15", "due <TS>"),
            ("backup_2024-01-15.tar log2024-01-15", "backup_<TS>.tar log<TS>"),
            ("2024-01-15T10:3", "<TS>t<NUM>:<NUM>"),
            ("2024-01-15T", "<TS>t"),
            ("2024-01-15  10:30", "<TS> <NUM>:<NUM>"),
            ("2024-13-15 2024-01-32 2024-00-10", "<NUM>-<NUM>-<NUM> <NUM>-<NUM>-<NUM> <NUM>-<NUM>-<NUM>"),
            ("2024-01-155 12024-01-15 2024-01", "<NUM>-<NUM>-<NUM> <NUM>-<NUM>-<NUM> <NUM>-<NUM>"),
            ("2024-01-15T25:30 2024-01-15T10:61", "<TS>t<NUM>:<NUM> <TS>t<NUM>:<NUM>"),
        ];
        check(&cases, Numbers::Masked);
    }

    #[test]
    fn normalize_uuids() {
        let cases = [
            ("550e8400-e29b-41d4-a716-446655440000", "<ID>"),
            ("user f47ac10b-58cc-4372-a567-0e02b2c3d479!", "user <ID>!"),
            ("F47AC10B-58CC-4372-A567-0E02B2C3D479", "<ID>"),
            ("call_f47ac10b-58cc-4372-a567-0e02b2c3d479", "call_<ID>"),
            ("{f47ac10b-58cc-4372-a567-0e02b2c3d479}", "{<ID>}"),
            ("f47ac10b58cc4372a5670e02b2c3d479", "<ID>"),
            ("commit 9f86d08 of e3b0c44298fc1c149afbf4c8996fb92427ae41e4", "commit <ID> of <ID>"),
            ("req_8f3kd92x call_a1b2c3 01ARZ3NDEKTSV4RRFFQ69G5FAV", "req_<ID> call_<ID> <ID>"),
            ("from [2001:db8::8a2e:370:7334] at 00:1b:44:11:3a:b7", "from [<ID>] at <ID>"),
        ];
        check(&cases, Numbers::Masked);
    }

    #[test]
    fn normalize_whitespace() {
        let cases = [
            ("  a\t b\r\n\r\nc \u{b}\u{c} ", "a b c"),
            ("a\u{a0}b\u{3000}c\u{2028}d", "a b c d"),
            ("", ""),
            (" \n\t", ""),
        ];
        check(&cases, Numbers::Masked);
    }

    #[test]
    fn unicode_is_composed_and_lower_case() {
        let cases = [
            ("CAFE\u{301} É", "café é"),
            ("ÄÖÜ ẞ Ωmega", "äöü ß ωmega"),
            ("“Ünïcode” — 5 дней", "“ünïcode” — <NUM> дней"),
            ("订单12345已发货", "订单<NUM>已发货"),
            ("１２３ と ٣٤", "<NUM> と <NUM>"),
            ("あ\u{3099}", "あ\u{3099}"),
            ("か\u{3099}", "が"),
            ("\u{212a}", "k"),
        ];
        check(&cases, Numbers::Masked);
    }

    #[test]
    fn a_word_without_end_is_cut_but_spelled_whole() {
        let long = "ab".repeat(5_000);
        assert_eq!(normalise(&long, Numbers::Masked), long);
        let accented = "é".repeat(5_000);
        assert_eq!(normalise(&accented, Numbers::Masked), accented);
        let digits = "7".repeat(5_000);
        assert_eq!(normalise(&digits, Numbers::Kept), digits);
    }

    #[test]
    fn pieces_are_apart() {
        let mut spelled = Spelled::default();
        words_of(["one", "", "2", "3"], Numbers::Masked, &mut spelled);
        assert_eq!(spelled.0, b"one <NUM> <NUM>");
    }

    proptest! {
        #[test]
        fn any_text_is_trimmed_and_has_single_spaces(text in any::<String>(), numbers in any::<bool>()) {
            let numbers = if numbers { Numbers::Masked } else { Numbers::Kept };
            let normalised = normalise(&text, numbers);
            prop_assert_eq!(normalised.trim(), &normalised);
            prop_assert!(!normalised.contains("  "));
        }

        #[test]
        fn text_of_marks_keeps_no_masked_digit(text in "[0-9a-fA-FtTzZxX:.,+ _-]{0,80}") {
            let masked = normalise(&text, Numbers::Masked);
            prop_assert!(!masked.contains(|character: char| character.is_ascii_digit()), "{}", masked);
            let words = |text: &str| text.split_ascii_whitespace().count();
            prop_assert!(words(&normalise(&text, Numbers::Kept)) <= words(&text));
        }

        #[test]
        fn only_numbers_are_told_apart(text in "[ -~]{0,40}|\\PC{0,10}|[0-9a-z .:é٣界-]{0,60}") {
            let has_numbers = words_of([text.as_str()], Numbers::Masked, &mut Spelled::default());
            let [masked, kept] = [Numbers::Masked, Numbers::Kept].map(|numbers| normalise(&text, numbers));
            prop_assert!(has_numbers || masked == kept, "{} {}", masked, kept);
            prop_assert!(has_numbers || !text.contains(|character: char| character.is_ascii_digit()) || masked.contains('<'));
        }
    }
}
