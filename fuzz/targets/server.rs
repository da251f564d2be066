//! What must hold for compressed bodies, configuration files and lines of replay files, whatever is in them.

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue};

const CODINGS: [&str; 6] = ["gzip", "deflate", "zstd", "br", "gzip, zstd", "deflate, br"];

/// However it is compressed, no more is read than the limit. The first byte picks the encoding.
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

/// A configuration is read, or its mistakes are told.
pub(crate) fn config_file(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        app::config::count_mistakes(text);
    }
}

/// A line is read, or it is told what is wrong with it.
pub(crate) fn replay_line(input: &[u8]) {
    if let Err(why) = app::check_replay_line(input) {
        assert!(!why.is_empty());
    }
}
