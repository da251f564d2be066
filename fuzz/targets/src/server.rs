//! Compressed bodies, configuration files and lines of replay files.

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue};

const CODINGS: [&str; 6] = ["gzip", "deflate", "zstd", "br", "gzip, zstd", "deflate, br"];

/// A compressed body never expands beyond the limit. The first byte of the input picks the
/// encoding.
pub(crate) fn decompression(input: &[u8]) {
    const LIMIT: usize = 1 << 16;
    let [coding, body @ ..] = input else { return };
    let coding = CODINGS[usize::from(*coding) % CODINGS.len()];
    let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(coding))]);
    if let Ok(plain) = proxy::read_body(&headers, &Bytes::copy_from_slice(body), LIMIT) {
        // UTF-16 grows by half at most.
        assert!(plain.len() <= LIMIT * 3 / 2);
    }
}

/// A configuration file is read, or its mistakes are reported.
pub(crate) fn config_file(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        app::config::count_mistakes(text);
    }
}

/// A line is read, or its error is not empty.
pub(crate) fn replay_line(input: &[u8]) {
    if let Err(why) = app::check_replay_line(input) {
        assert!(!why.is_empty());
    }
}
