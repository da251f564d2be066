//! Recognises generated ids: hashes, tokens, request ids, ULIDs, nanoids, IPv6 addresses. They are
//! generated for every request and mean nothing, so a text that differs only in them is the same
//! text.
//!
//! Letters and digits alternate more often in an id than in a word. Each test looks at one run of
//! letters and digits and consumes it if it is an id, which keeps the pass linear.

use super::name_parts::parts;

/// The shortest hexadecimal run that is an id: an abbreviated git hash has seven digits, chunk ids
/// have six.
const SHORTEST_HEX: usize = 6;
/// The shortest run of any letters and digits that is an id by itself.
const SHORTEST_ID: usize = 12;
/// The shortest one whose letters and digits alternate more often than in a name.
const SHORTEST_MIXED: usize = 8;
/// The shortest run of the characters of base64.
const SHORTEST_ENCODED: usize = 20;
/// The shortest one behind a prefix such as `req_`.
const SHORTEST_PREFIXED: usize = 6;

/// The end of the id that starts at `at`. No letter or digit may stand before `at`.
pub(super) fn id(text: &[u8], at: usize) -> Option<usize> {
    let run = Run::at(text, at);
    // Encoded data first: if it begins with an id, taking only that would leave the rest.
    encoded(text, at).or_else(|| run.id_end(text, at)).or_else(|| ipv6(text, at))
}

/// What one run of ASCII letters and digits consists of.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    length: usize,
    digits: usize,
    /// How often a digit follows a letter, or a letter a digit.
    turns: usize,
    has_capitals: bool,
    has_small: bool,
    is_hex: bool,
    begins_with_digit: bool,
}

impl Run {
    /// The end of the id that begins with this run at `at`; `None` if the run is not an id.
    fn id_end(&self, text: &[u8], at: usize) -> Option<usize> {
        let may_be_id = self.length >= SHORTEST_HEX && self.digits > 0;
        let is_id = || self.is_id(is_prefixed(text, at)) || self.is_scrambled(&text[at..at + self.length]);
        (may_be_id && is_id()).then(|| past_tail(text, at + self.length))
    }

    fn at(text: &[u8], at: usize) -> Run {
        let mut run = Run { is_hex: true, ..Run::default() };
        let mut before: Option<bool> = None;
        for byte in text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_alphanumeric()) {
            let is_digit = byte.is_ascii_digit();
            run.length += 1;
            run.digits += usize::from(is_digit);
            run.turns += usize::from(before.is_some_and(|before| before != is_digit));
            run.has_capitals |= byte.is_ascii_uppercase();
            run.has_small |= byte.is_ascii_lowercase();
            run.is_hex &= byte.is_ascii_hexdigit();
            if before.is_none() {
                run.begins_with_digit = is_digit;
            }
            before = Some(is_digit);
        }
        run
    }

    fn is_id(&self, is_prefixed: bool) -> bool {
        if self.digits == self.length {
            return false;
        }
        let is_one_case = !(self.has_capitals && self.has_small);
        (self.is_hex && is_one_case && self.is_hash())
            || (self.length >= SHORTEST_ID && self.turns >= 3)
            || (self.length >= SHORTEST_MIXED && self.turns >= self.fewest_turns())
            || (is_prefixed && self.length >= SHORTEST_PREFIXED && self.turns >= 2)
    }

    /// Whether small letters, capitals and digits alternate more often than in a name. `bytes` is
    /// the run.
    fn is_scrambled(&self, bytes: &[u8]) -> bool {
        self.has_capitals && self.has_small && self.length >= SHORTEST_MIXED && parts(bytes) * 2 >= self.length
    }

    /// How often letters and digits must alternate in a run of medium length: few names begin with
    /// a digit, or have capital letters only.
    fn fewest_turns(&self) -> usize {
        if self.begins_with_digit || !self.has_small { 2 } else { 3 }
    }

    /// `abc1234` may be a name with a number; `4fe6ad` and `1234abc` are not names.
    fn is_hash(&self) -> bool {
        match self.length {
            SHORTEST_HEX => self.turns >= 3,
            // `1e10`, `550e84` and the like are numbers with an exponent.
            _ => self.turns >= 2 || (self.turns == 1 && self.begins_with_digit),
        }
    }
}

/// The end of the encoded data that starts at `at`: a run of the characters of base64 in which
/// small letters, capitals and digits alternate as in random data. In names and paths they
/// alternate less often.
fn encoded(text: &[u8], at: usize) -> Option<usize> {
    let is_part = |byte: &u8| matches!(byte, b'-' | b'_' | b'+' | b'/');
    if at.checked_sub(1).is_some_and(|before| is_part(&text[before])) {
        return None;
    }
    let rest = text.get(at..)?;
    let token = &rest[..rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || is_part(byte)).count()];
    if token.len() < SHORTEST_ENCODED {
        return None;
    }
    let class = |byte: &u8| (byte.is_ascii_uppercase(), byte.is_ascii_lowercase(), byte.is_ascii_digit());
    let turns = token.windows(2).filter(|pair| class(&pair[0]) != class(&pair[1])).count();
    let count = |is: fn(&u8) -> bool| token.iter().filter(|byte| is(byte)).count();
    let is_mixed =
        count(u8::is_ascii_uppercase) > 2 && count(u8::is_ascii_lowercase) > 2 && count(u8::is_ascii_digit) > 0;
    let end = at + token.len();
    let is_encoded = is_mixed && turns * 5 >= token.len() * 2;
    is_encoded.then(|| end + text[end..].iter().take_while(|byte| **byte == b'=').count())
}

/// Whether a letter and an underscore stand before `at`: `req_`, `call_`, `toolu_`.
fn is_prefixed(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(2).and_then(|before| text.get(before..at)) else { return false };
    before[1] == b'_' && before[0].is_ascii_alphabetic()
}

/// Skips what still belongs to an id that ends at `end`: runs behind `-`, `_` or `+` that are not
/// words, and padding.
fn past_tail(text: &[u8], mut end: usize) -> usize {
    while matches!(text.get(end), Some(b'-' | b'_' | b'+')) {
        let run = Run::at(text, end + 1);
        let is_word = run.digits == 0 && !(run.has_capitals && run.has_small) && has_vowel(text, end + 1, run.length);
        if run.length == 0 || is_word || run.digits == run.length {
            break;
        }
        end += 1 + run.length;
    }
    while text.get(end) == Some(&b'=') {
        end += 1;
    }
    end
}

fn has_vowel(text: &[u8], at: usize, length: usize) -> bool {
    text[at..at + length]
        .iter()
        .any(|byte| matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y'))
}

/// The end of the IPv6 or hardware address that starts at `at`: groups of hexadecimal digits
/// between colons.
fn ipv6(text: &[u8], at: usize) -> Option<usize> {
    // The first bytes rule out nearly everything else.
    let head = text.get(at..)?.iter().take(5).position(|byte| *byte == b':')?;
    if !text[at..at + head].iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let rest = text.get(at..)?;
    let length = rest.iter().take(46).take_while(|byte| byte.is_ascii_hexdigit() || **byte == b':').count();
    let address = rest[..length].strip_suffix(b":").unwrap_or(&rest[..length]);
    let colons = address.iter().filter(|byte| **byte == b':').count();
    let has_letter = address.iter().any(u8::is_ascii_alphabetic);
    let has_digit = address.iter().any(u8::is_ascii_digit);
    let is_short = address.windows(2).any(|pair| pair == b"::");
    let ends = !text.get(at + address.len()).is_some_and(u8::is_ascii_alphanumeric);
    (ends && has_digit && (colons >= 5 || (has_letter && colons >= 3) || (is_short && colons >= 2)))
        .then_some(at + address.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(text: &str) -> Option<usize> {
        id(text.as_bytes(), 0)
    }

    #[test]
    fn generated_ids_are_recognised() {
        for text in [
            "550e8400e29b41d4a716446655440000",
            "4fe6ad",
            "9f86d08",
            "1234abc",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "V1StGXR8_Z5jdHi6B-myT",
            "4442587FB7D0A2F9",
            "XSAR2H99",
            "28w9op5c",
            "oUNKPxs+4J8fY0xQ9+SKSuGDbMFpxPf0DU/uvdiqm0v=",
            "ZmcnQEYlQdLYQPBjr6x3Q",
            "8oblwmp8",
            "3f2504e04f8911d39a0c0305e82c3301",
            "dGhpcyBpcyBhIHRlc3Qgb2YgNjQ0=",
            "2001:db8:85a3::8a2e:370:7334",
            "fe80::1ff:fe23:4567:890a",
            "00:1b:44:11:3a:b7",
            "u6KmYneP",
            "qVQa49gq",
            "L7nG5GP9",
            "8zArbwF3Mm",
            "HR7fj54JbKxfiRHL/oTBhKiXe/5Xk64Z8sOnlwmeWcRfhbfw",
        ] {
            assert_eq!(end_of(text), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn ids_behind_a_prefix_are_shorter() {
        for text in ["req_8f3kd9", "call_a1b2c3", "toolu_01A09q90qw90lq917835lq9"] {
            let at = text.find('_').map_or(0, |place| place + 1);
            assert_eq!(id(text.as_bytes(), at), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn words_and_numbers_are_no_ids() {
        for text in [
            "abc123",
            "abc1234",
            "v2",
            "sha256",
            "utf8",
            "x86",
            "facade",
            "defaced",
            "12345678",
            "2024",
            "python3",
            "test12",
            "http2client",
            "HttpClient2Factory",
            "deadbeef",
            "gpt4o",
            "a1",
            "b2b",
            "std::vec",
            "10:30:00",
            "1e10",
            "log4j",
            "base64",
            "ipv6",
            "p95",
            "h264",
            "0x1f",
            "ISO8859",
            "UTF16LE",
            "3dmodels",
            "2ndplace",
            "getUser2ById",
            "HTTPServer2",
        ] {
            assert_eq!(end_of(text), None, "{text}");
        }
    }

    #[test]
    fn a_word_behind_an_id_stays() {
        assert_eq!(end_of("4fe6ad1-fix-login"), Some(7));
        assert_eq!(end_of("7d9f8b6c5d-xkqtz"), Some(16));
        assert_eq!(end_of("9f86d081_test.rs"), Some(8));
    }
}
