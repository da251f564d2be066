//! The text of an agent key: `agk_`, 43 random characters (256 bits) and 6 characters of checksum,
//! by which a scanner for leaked keys recognises a key.

use std::fmt;
use std::hash::{Hash, Hasher};

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 62^43 is more than 2^256.
const RANDOM_LENGTH: usize = 43;
/// 62^6 is more than 2^32.
const CHECKSUM_LENGTH: usize = 6;

/// The text of an agent key. It is shown once, when the key is created.
pub struct KeyText(String);

impl KeyText {
    /// The prefix of every key.
    pub const PREFIX: &'static str = "agk_";
    /// The length of a key.
    pub const LENGTH: usize = Self::PREFIX.len() + RANDOM_LENGTH + CHECKSUM_LENGTH;

    /// A key from a source of random bytes.
    pub fn random<E>(mut fill: impl FnMut(&mut [u8]) -> Result<(), E>) -> Result<KeyText, E> {
        let mut text = String::with_capacity(Self::LENGTH);
        text.push_str(Self::PREFIX);
        while text.len() < Self::PREFIX.len() + RANDOM_LENGTH {
            let mut bytes = [0_u8; 64];
            fill(&mut bytes)?;
            // Larger bytes would favour the first characters of the alphabet.
            let fair = bytes.iter().filter(|byte| **byte < 248).map(|byte| ALPHABET[usize::from(byte % 62)]);
            let missing = Self::PREFIX.len() + RANDOM_LENGTH - text.len();
            text.extend(fair.take(missing).map(char::from));
        }
        let checksum = checksum(&text);
        text.push_str(&checksum);
        Ok(KeyText(text))
    }

    /// The text.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Its hash.
    pub fn hash(&self) -> KeyHash {
        KeyHash::of(&self.0)
    }

    /// Whether `text` has the length and the checksum of a key. A mistyped or cut key has not.
    pub fn is_well_formed(text: &str) -> bool {
        let is_key = text.len() == Self::LENGTH && text.starts_with(Self::PREFIX) && text.is_ascii();
        is_key && checksum(&text[..Self::LENGTH - CHECKSUM_LENGTH]) == text[Self::LENGTH - CHECKSUM_LENGTH..]
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyText")
    }
}

/// The CRC-32 (ISO 3309) of the text before it, in the characters of a key.
fn checksum(text: &str) -> String {
    let mut rest = !text.bytes().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    });
    let mut digits = [b'0'; CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    digits.into_iter().map(char::from).collect()
}

/// The SHA-256 of a key's text. A slow hash would add nothing: a key has 256 random bits.
#[derive(Clone, Copy)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The hash of `text`.
    pub fn of(text: &str) -> KeyHash {
        KeyHash(Sha256::digest(text.as_bytes()).into())
    }

    /// Its 64 hexadecimal digits.
    pub fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Parses hexadecimal digits.
    pub fn parse_hex(text: &str) -> Option<KeyHash> {
        let mut hash = [0; 32];
        if text.len() != 2 * hash.len() || !text.is_ascii() {
            return None;
        }
        for (index, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
        }
        Some(KeyHash(hash))
    }
}

impl PartialEq for KeyHash {
    /// Constant time: it does not depend on where two hashes differ.
    fn eq(&self, other: &KeyHash) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for KeyHash {}

impl Hash for KeyHash {
    /// Eight bytes of a hash are random enough for a map.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        state.write_u64(u64::from_le_bytes([a, b, c, d, e, f, g, h]));
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn key(first: u8) -> KeyText {
        let mut next = first;
        let fill = |bytes: &mut [u8]| {
            bytes.iter_mut().for_each(|byte| {
                next = next.wrapping_mul(29).wrapping_add(7);
                *byte = next;
            });
            Ok::<_, Infallible>(())
        };
        KeyText::random(fill).unwrap()
    }

    #[test]
    fn keys_have_a_prefix_256_bits_and_a_checksum() {
        let key = key(1);
        let text = key.expose();
        assert_eq!((text.len(), &text[..4]), (53, "agk_"));
        assert!(text[4..].bytes().all(|byte| byte.is_ascii_alphanumeric()), "{text}");
        assert!(KeyText::is_well_formed(text));
        assert_eq!(format!("{key:?} {:?}", key.hash()), "KeyText KeyHash");
    }

    #[test]
    fn checksum_is_crc_32() {
        // 0xcbf43926, the check value of CRC-32, in base 62.
        let value = checksum("123456789")
            .bytes()
            .fold(0_u64, |value, byte| value * 62 + ALPHABET.iter().position(|digit| *digit == byte).unwrap() as u64);
        assert_eq!(value, 0xcbf4_3926);
    }

    #[test]
    fn mistyped_keys_are_not_well_formed() {
        let right = key(2).expose().to_owned();
        for position in 0..right.len() {
            let mut wrong = right.clone().into_bytes();
            wrong[position] = if wrong[position] == b'x' { b'y' } else { b'x' };
            assert!(!KeyText::is_well_formed(&String::from_utf8(wrong).unwrap()), "{position}");
        }
        for wrong in ["", "agk_", &right[..52], &format!("{right}0"), &format!("agk_ä{}", &right[6..])] {
            assert!(!KeyText::is_well_formed(wrong), "{wrong}");
        }
    }

    #[test]
    fn hash_is_read_as_it_is_written() {
        let hash = key(3).hash();
        assert_eq!(KeyHash::parse_hex(&hash.to_hex()), Some(hash));
        assert_ne!(hash, key(4).hash());
        for wrong in ["", "zz", &"z".repeat(64), &"ä".repeat(32)] {
            assert_eq!(KeyHash::parse_hex(wrong), None);
        }
    }
}
