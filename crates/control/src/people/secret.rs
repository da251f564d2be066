//! The text of an API token: a prefix for secret scanners, 256 random bits, and a checksum that
//! tells a mistyped token from an unknown one.

use std::fmt::Write;

use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// The prefix of every API token.
pub const TOKEN_PREFIX: &str = "agz_";

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// 256 bits in base 62.
const BODY_LENGTH: usize = 43;
/// 32 bits in base 62.
const CHECKSUM_LENGTH: usize = 6;

/// A new token. Fails if the system has no randomness.
pub(super) fn generate() -> Result<SecretString, getrandom::Error> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    let body = base62(&mut bytes, BODY_LENGTH);
    Ok(format!("{TOKEN_PREFIX}{body}{}", checksum(&body)).into())
}

/// The hash of a token; `None` if `text` does not have the form of a token.
pub(super) fn hash_of(text: &str) -> Option<String> {
    let rest = text.strip_prefix(TOKEN_PREFIX)?;
    if rest.len() != BODY_LENGTH + CHECKSUM_LENGTH || !rest.is_ascii() {
        return None;
    }
    let (body, given) = rest.split_at(BODY_LENGTH);
    (checksum(body) == given).then(|| hash(text))
}

/// The hash of a new token.
pub(super) fn hash_of_new(token: &SecretString) -> String {
    hash(token.expose_secret())
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::with_capacity(64), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

fn checksum(body: &str) -> String {
    let digest = Sha256::digest(format!("{TOKEN_PREFIX}{body}"));
    let mut bytes = [0_u8; 4];
    bytes.copy_from_slice(&digest[..4]);
    base62(&mut bytes, CHECKSUM_LENGTH)
}

/// A number of many bytes in base 62, by long division.
fn base62(bytes: &mut [u8], length: usize) -> String {
    let mut digits = vec![b'0'; length];
    for digit in digits.iter_mut().rev() {
        let mut remainder = 0_u32;
        for byte in bytes.iter_mut() {
            let value = remainder * 256 + u32::from(*byte);
            *byte = (value / 62) as u8;
            remainder = value % 62;
        }
        *digit = DIGITS[remainder as usize];
    }
    digits.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use super::*;

    #[test]
    fn mistyped_token_is_told_by_its_checksum() {
        let token = generate().unwrap();
        let text = token.expose_secret();
        assert_eq!(text.len(), 4 + BODY_LENGTH + CHECKSUM_LENGTH);
        assert_eq!(hash_of(text), Some(hash_of_new(&token)));
        assert_ne!(generate().unwrap().expose_secret(), text);
        let last = if text.ends_with('a') { "b" } else { "a" };
        for wrong in [&text[4..], &text[..52], "agz_", "", &format!("{}{last}", &text[..52]), &format!("{text}a")] {
            assert_eq!(hash_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn number_is_written_in_base_62() {
        assert_eq!(base62(&mut [0, 61], 3), "00z");
        assert_eq!(base62(&mut [0, 62], 3), "010");
        assert_eq!(base62(&mut [255; 32], 43).len(), 43);
    }
}
