//! Normalises a path as a lenient server reads it, to recognise its endpoint. The forwarded path
//! does not change.

/// `path` in lower case and percent-decoded, without empty segments, parameters (`;x=1`) and a
/// final `.json`.
pub(crate) fn plain_path(path: &str) -> String {
    let decoded = percent_decoded(path);
    let mut plain = String::with_capacity(decoded.len());
    for segment in decoded.split('/') {
        let name = segment.split(';').next().unwrap_or_default();
        if !name.is_empty() && name != "." {
            if !plain.is_empty() {
                plain.push('/');
            }
            plain.push_str(name);
        }
    }
    plain.make_ascii_lowercase();
    if let Some(length) = plain.strip_suffix(".json").map(str::len) {
        plain.truncate(length);
    }
    plain
}

/// Whether `path` ends with the segments of `end`.
pub(crate) fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Decodes `%xx` in `path`. Invalid escapes stay as they are.
fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let decoded = match (byte, after) {
            (b'%', [high, low, ..]) => hex_digit(*high).zip(hex_digit(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        bytes.push(decoded.unwrap_or(byte));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_paths_are_normalised() {
        for path in [
            "/v1/chat/completions",
            "v1/chat/completions//",
            "//v1///chat/completions.json",
            "/v1;a/chat/completions;x=1;y",
            "/v1%2fchat%2Fcompletion%73",
            "/V1/Chat/COMPLETIONS.JSON/",
            "/v1/./chat/completions/.",
        ] {
            assert_eq!(plain_path(path), "v1/chat/completions", "{path}");
        }
        assert_eq!(plain_path("/a%zz%4"), "a%zz%4");
        assert_eq!(plain_path("/%ff"), "\u{fffd}");
        assert_eq!(plain_path("/"), "");
    }
}
