//! Normalises a path as a lenient server reads it, to recognise its endpoint. The forwarded path
//! does not change.

use crate::percent_decoding::percent_decoded;

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
