//! Request bodies that are not plain UTF-8: with a byte order mark, or in UTF-16.

use bytes::Bytes;
use model::Unread;

/// Converts UTF-16 to UTF-8 and removes a byte order mark. A plain UTF-8 body is neither copied nor
/// validated; the reader validates it.
pub fn utf8_body(body: Bytes) -> Result<Bytes, Unread> {
    match &body[..] {
        [0xef, 0xbb, 0xbf, ..] => Ok(body.slice(3..)),
        [0xff, 0xfe, rest @ ..] => from_utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => from_utf16(rest, u16::from_be_bytes),
        // JSON begins with an ASCII character, so a zero beside it shows the byte order.
        [first, 0, ..] if *first != 0 => from_utf16(&body, u16::from_le_bytes),
        [0, second, ..] if *second != 0 => from_utf16(&body, u16::from_be_bytes),
        _ => Ok(body),
    }
}

fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Bytes, Unread> {
    let (pairs, odd) = bytes.as_chunks();
    if !odd.is_empty() {
        return Err(Unread::NotUtf8);
    }
    // ASCII text becomes half as long.
    let mut text = String::with_capacity(bytes.len() / 2);
    // Half a surrogate pair becomes U+FFFD, as in escapes.
    let characters = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)));
    text.extend(characters.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)));
    Ok(Bytes::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{\"a\":\"é😀\"}";

    fn check(body: Vec<u8>, expected: Result<&str, Unread>) {
        assert_eq!(utf8_body(Bytes::from(body)), expected.map(|text| Bytes::copy_from_slice(text.as_bytes())));
    }

    #[test]
    fn every_text_encoding_reads_the_same() {
        let (little, big): (Vec<u8>, Vec<u8>) = (
            TEXT.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            TEXT.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        );
        check(TEXT.into(), Ok(TEXT));
        check([b"\xef\xbb\xbf", TEXT.as_bytes()].concat(), Ok(TEXT));
        check([b"\xff\xfe", &little[..]].concat(), Ok(TEXT));
        check([b"\xfe\xff", &big[..]].concat(), Ok(TEXT));
        check(little.clone(), Ok(TEXT));
        check(big, Ok(TEXT));
        check(little[..little.len() - 1].to_vec(), Err(Unread::NotUtf8));
    }

    #[test]
    fn bodies_without_utf16_are_unchanged() {
        for body in ["", "{", "{}", "\0\0", "é"] {
            check(body.into(), Ok(body));
        }
        check(b"\xff\xfe\x00\xd8{\x00".to_vec(), Ok("\u{fffd}{"));
    }
}
