//! Searching bytes eight at a time, in plain arithmetic: what lies between two places of interest is most of a body.
//!
//! A match is the highest bit of its byte. Only the lowest match counts: higher ones may be echoes of a borrow.

const ONES: u64 = u64::from_le_bytes([1; 8]);

/// Where `find` first matches. It must not match the byte 0xff, which no UTF-8 text holds.
#[inline(always)]
pub(crate) fn position(bytes: &[u8], find: impl Fn(u64) -> u64) -> Option<usize> {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..)?.first_chunk() {
        let found = find(u64::from_le_bytes(*chunk));
        if found != 0 {
            return Some(at + place(found));
        }
        at += 8;
    }
    let rest = bytes.get(at..)?;
    let mut last = [0xff; 8];
    last.get_mut(..rest.len())?.copy_from_slice(rest);
    let found = find(u64::from_le_bytes(last));
    (found != 0).then(|| at + place(found))
}

/// Matches bytes below `limit`, which is at most 0x80.
#[inline]
pub(crate) fn below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & (ONES << 7)
}

/// Matches this byte.
#[inline]
pub(crate) fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ (ONES * u64::from(byte)), 1)
}

fn place(found: u64) -> usize {
    found.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_what_a_plain_search_finds(bytes: Vec<u8>, byte in 0..0xff_u8, limit in 1..=0x80_u8) {
            let equals = position(&bytes, |word| equal(word, byte));
            prop_assert_eq!(equals, bytes.iter().position(|it| *it == byte));
            let less = position(&bytes, |word| below(word, limit));
            prop_assert_eq!(less, bytes.iter().position(|it| *it < limit));
        }
    }
}
