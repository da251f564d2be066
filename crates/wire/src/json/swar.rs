//! Byte searches of eight bytes at a time in one integer (SWAR), for matches so near that a wide
//! search would not pay off.
//!
//! A match sets the highest bit of its byte. Only the lowest match is reliable: a borrow may set
//! higher ones.

const ONES: u64 = u64::from_le_bytes([1; 8]);

/// The eight bytes at `at`, filled up with 0xff past the end of the text. UTF-8 never contains
/// 0xff.
#[inline(always)]
pub(crate) fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    match bytes.get(at..)?.first_chunk() {
        Some(chunk) => Some(u64::from_le_bytes(*chunk)),
        None => Some(last_word(bytes, at)),
    }
}

/// Like [`word_at`] for the last bytes, of which there are fewer than eight.
#[inline(never)]
fn last_word(bytes: &[u8], at: usize) -> u64 {
    if let Some(chunk) = bytes.last_chunk() {
        let missing = at + 8 - bytes.len();
        return !(!u64::from_le_bytes(*chunk)).checked_shr(8 * missing as u32).unwrap_or(0);
    }
    bytes[at..].iter().rev().fold(u64::MAX, |word, byte| word << 8 | u64::from(*byte))
}

/// Matches `byte`, which must be below 0x80.
#[inline(always)]
pub(crate) fn equal(word: u64, byte: u8) -> u64 {
    let zero_where_equal = word ^ (ONES * u64::from(byte));
    zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & (ONES << 7)
}

/// Matches every byte that is not an ASCII digit.
#[inline(always)]
pub(crate) fn no_digit(word: u64) -> u64 {
    let value = word ^ (ONES * u64::from(b'0'));
    (value.wrapping_add(ONES * (0x80 - 10)) | value) & (ONES << 7)
}

/// Whether a text of at most sixteen bytes contains `byte`, which must be below 0x80.
#[inline(always)]
pub(crate) fn short_contains(bytes: &[u8], byte: u8) -> bool {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        return equal(u64::from_le_bytes(*first), byte) | equal(u64::from_le_bytes(*last), byte) != 0;
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let both = u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
        return equal(both, byte) != 0;
    }
    bytes.contains(&byte)
}

/// The index of the lowest match in its word.
#[inline(always)]
pub(crate) fn match_index(matches: u64) -> usize {
    matches.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The first position of the byte, searched by words from `start` on.
    fn find(bytes: &[u8], start: usize, byte: u8) -> Option<usize> {
        (start..=bytes.len()).step_by(8).find_map(|at| {
            let matches = equal(word_at(bytes, at)?, byte);
            (matches != 0).then(|| at + match_index(matches))
        })
    }

    proptest! {
        #[test]
        fn finds_what_a_plain_search_finds(bytes: Vec<u8>, start in 0..40_usize, byte in 0..0x80_u8) {
            let expected = bytes.iter().enumerate().skip(start).find(|(_, it)| **it == byte).map(|(at, _)| at);
            prop_assert_eq!(find(&bytes, start, byte), expected);
        }

        #[test]
        fn short_contains_finds_what_a_plain_search_finds(bytes in prop::collection::vec(0x20..0x7f_u8, 0..=16), byte in 0x20..0x7f_u8) {
            prop_assert_eq!(short_contains(&bytes, byte), bytes.contains(&byte));
        }

        #[test]
        fn digits_end_where_a_plain_search_ends_them(digits in "[0-9]{0,8}", rest: [u8; 8]) {
            let bytes = [digits.as_bytes(), &rest].concat();
            let expected = bytes.iter().take(8).position(|byte| !byte.is_ascii_digit());
            let matches = word_at(&bytes, 0).map(no_digit).filter(|matches| *matches != 0);
            prop_assert_eq!(matches.map(match_index), expected);
        }
    }

    #[test]
    fn no_word_past_the_end() {
        for length in [0, 3, 8, 11] {
            assert_eq!(word_at(&[7; 11][..length], length), Some(u64::MAX));
            assert_eq!(word_at(&[7; 11][..length], length + 1), None);
        }
    }
}
