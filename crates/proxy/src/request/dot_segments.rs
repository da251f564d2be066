//! Paths with dot segments. A provider, or a gateway before it, may resolve `..` after decoding it:
//! the call would leave the provider's base URL, or reach a chat endpoint under a path that does
//! not look like one.

/// Whether a segment of `path` decodes to `.` or `..`: encoded any number of times, with encoded
/// slashes and backslashes, in UTF-8 that is longer than necessary, in characters that some servers
/// take for a dot or a slash, before a `;` or an encoded `?` or `#`, and between blanks.
pub fn has_dot_segments(path: &str) -> bool {
    // Nearly no path has a dot outside of a name.
    if path.bytes().all(|byte| byte != b'.' && byte != b'%' && byte.is_ascii()) {
        return false;
    }
    String::from_utf8_lossy(&fully_decoded(path)).split(is_separator).any(is_dots)
}

/// `path` without any percent encoding, for servers that decode more than once: `%252e` and
/// `%%32e` are `.`, too. In one pass, because a path may be long.
fn fully_decoded(path: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(path.len());
    for byte in path.bytes() {
        text.push(byte);
        // A decoded byte may complete another escape.
        while let Some((length, byte)) = last_escape(&text) {
            text.truncate(text.len() - length);
            text.push(byte);
        }
    }
    text
}

/// The length of the escape at the end of `text`, and the byte that it stands for: percent
/// encoding, its older form `%u002e`, a full-width form, or UTF-8 with more bytes than ASCII needs
/// (`%c0%ae` is `.`), which lax servers accept.
fn last_escape(text: &[u8]) -> Option<(usize, u8)> {
    let ascii = |high: u8, low: u8| ((high & 1) << 6) | (low & 0x3f);
    match *text {
        [.., b'%', high, low] if hex(high).is_some() => Some((3, hex(high)? << 4 | hex(low)?)),
        [.., b'%', b'u' | b'U', a, b, c, d] => {
            let unit = [a, b, c, d].into_iter().try_fold(0, |unit, digit| Some(unit << 4 | u32::from(hex(digit)?)))?;
            Some((6, narrow(char::from_u32(unit)?)?))
        }
        [.., 0xfc, 0x80, 0x80, 0x80, high @ 0x80..=0x81, low @ 0x80..=0xbf] => Some((6, ascii(high, low))),
        [.., 0xf8, 0x80, 0x80, high @ 0x80..=0x81, low @ 0x80..=0xbf] => Some((5, ascii(high, low))),
        [.., 0xf0, 0x80, high @ 0x80..=0x81, low @ 0x80..=0xbf] => Some((4, ascii(high, low))),
        [.., 0xe0, high @ 0x80..=0x81, low @ 0x80..=0xbf] => Some((3, ascii(high, low))),
        [.., first @ 0xef, second @ 0xbc..=0xbd, third @ 0x80..=0xbf] => {
            let form = std::str::from_utf8(&[first, second, third]).ok()?.chars().next()?;
            Some((3, narrow(form)?))
        }
        [.., high @ 0xc0..=0xc1, low @ 0x80..=0xbf] => Some((2, ascii(high, low))),
        _ => None,
    }
}

/// The ASCII character that this one is, or of which it is the full-width form.
fn narrow(c: char) -> Option<u8> {
    let code = match c {
        '！'..='～' => u32::from(c) - 0xfee0,
        _ => u32::from(c),
    };
    u8::try_from(code).ok().filter(u8::is_ascii)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// A slash, or what becomes one in servers that replace characters by similar ones.
fn is_separator(c: char) -> bool {
    matches!(c, '/' | '\\' | '\u{2044}' | '\u{2215}' | '\u{fe68}')
}

fn is_dots(segment: &str) -> bool {
    // Servers cut parameters off before they resolve a segment, and a decoded `?` or `#` may end
    // the path; some trim blanks and control characters, or leave out what is not UTF-8.
    let name = segment.split([';', '?', '#']).next().unwrap_or_default();
    let mut dots = 0;
    for c in name.chars() {
        match c {
            '.' | '\u{2024}' | '\u{fe52}' => dots += 1,
            '\u{2025}' => dots += 2,
            _ if is_invisible(c) => {}
            _ => return false,
        }
    }
    matches!(dots, 1 | 2)
}

fn is_invisible(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_segments_are_seen_however_they_are_written() {
        for path in [
            "/..",
            "/../v1/models",
            "/v1/../admin",
            "/v1/./models",
            "/v1/.",
            "/v1/%2e%2e/x",
            "/v1/%2E%2e/x",
            "/v1/.%2e/x",
            "/v1/%2e./x",
            "/v1%2f..%2fx",
            "/v1%2F%2e%2E%2Fx",
            "/v1\\..\\x",
            "/v1%5c..%5Cx",
            "/v1/..%5cx",
            "/v1/%252e%252e/x",
            "/v1/%25252e%25252e%25252fx",
            "/v1/%2%65%2%65/x",
            "/v1/%%32e%%32%65/x",
            "/v1/..%%32fx",
            "/v1/%25%32%65./x",
            "/v1/..;/x",
            "/v1/..;a=b/x",
            "/v1/%2e%2e%3bx/y",
            "/v1/..%3fa/x",
            "/v1/..%23a",
            "/v1/%2e%2e%253fx",
            "/v1/..%00/x",
            "/v1/..%20/x",
            "/v1/%09../x",
            "/v1/%c0%ae%c0%ae/x",
            "/v1/%C0%AE./x",
            "/v1/..%c0%afx",
            "/v1/..%c1%9cx",
            "/v1/%e0%80%ae%e0%80%ae/x",
            "/v1/%f0%80%80%ae./x",
            "/v1/%c0%a52e./x",
            "/v1/%25c0%25ae./x",
            "/v1/%f8%80%80%80%ae./x",
            "/v1/%fc%80%80%80%80%ae./x",
            "/v1/%ef%bc%8e%ef%bc%8e/x",
            "/v1/．．/x",
            "/v1/..%ef%bc%8fx",
            "/v1/..＼x",
            "/v1/%ef%bc%852e./x",
            "/v1/%u002e%u002E/x",
            "/v1/%uff0e%Uff0e/x",
            "/v1/%25u002e./x",
            "/v1/..%e2%88%95x",
            "/v1/..%e2%81%84x",
            "/v1/%e2%80%a4%ef%b9%92/x",
            "/v1/%e2%80%a5/x",
            "/v1/..%c2%a0/x",
            "/v1/.%e2%80%8b./x",
            "/v1/..%ad/x",
            "..",
        ] {
            assert!(has_dot_segments(path), "{path}");
        }
    }

    #[test]
    fn dots_inside_names_are_not_segments() {
        for path in [
            "",
            "/",
            "//",
            "/v1/models/gpt-4.1",
            "/v1/models/gemini-2.5-pro:generateContent",
            "/v1/files/.hidden",
            "/v1/files/a..b",
            "/v1/files/...",
            "/v1/files/a.",
            "/v1/files/..a",
            "/v1/files/a%2Fb",
            "/v1/files/a%2eb",
            "/v1/%zz/%2",
            "/v1/100%",
            "/v1/%c3%ae%c3%ae/x",
            "/v1/%c0/..x",
            "/v1/%e2%80%a6/x",
            "/v1/%ff/x",
            "/v1/．a/x",
            "/v1/%u0041/x",
            "/v1/%u00e9/x",
            "/v1/%ef%bd%9f/x",
            "/v1/%uff9f/x",
            "/v1;x=../y",
        ] {
            assert!(!has_dot_segments(path), "{path}");
        }
    }

    #[test]
    fn a_long_path_of_nested_encodings_is_read_once() {
        let path = format!("/{}2e", "%25".repeat(1 << 20));
        assert!(!has_dot_segments(&path));
    }
}
