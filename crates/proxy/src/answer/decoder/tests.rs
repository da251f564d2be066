#![allow(clippy::unwrap_used, reason = "a test may")]

use std::io::Write;

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue};

use super::*;
use crate::request::decode::decode_body;
use crate::request::decode::tests::{ALL, bare_deflate, encoded};

const STREAM: &[u8] = b"data: {\"a\":1}\n\ndata: [DONE]\n\n";

/// Decodes `body` byte by byte.
fn check(encoding: Encoding, body: &[u8]) {
    let mut decoder = Decoder::new(encoding, Vec::new()).unwrap();
    for byte in body {
        decoder.pass(&[*byte]).unwrap();
    }
    assert_eq!(decoder.sink(), STREAM, "{encoding:?}");
    let mut decoder = Decoder::new(encoding, Vec::new()).unwrap();
    decoder.pass(body).unwrap();
    assert_eq!(decoder.sink(), STREAM, "{encoding:?}");
}

#[test]
fn a_stream_is_decoded_as_it_passes() {
    for encoding in ALL {
        check(encoding, &encoded(encoding, STREAM));
    }
    check(Encoding::Deflate, &bare_deflate(STREAM));
    let (left, right) = STREAM.split_at(9);
    check(Encoding::Gzip, &[encoded(Encoding::Gzip, left), encoded(Encoding::Gzip, right)].concat());
}

#[test]
fn zstd_windows_larger_than_http_allows_are_refused() {
    let with_window = |log: u32| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(log).unwrap();
        encoder.write_all(b"{}").unwrap();
        encoder.finish().unwrap()
    };
    let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("zstd"))]);
    for (log, expected) in [(ZSTD_WINDOW, true), (ZSTD_WINDOW + 1, false)] {
        let body = with_window(log);
        assert_eq!(Decoder::new(Encoding::Zstd, Vec::new()).unwrap().pass(&body).is_ok(), expected);
        assert_eq!(decode_body(&headers, &Bytes::from(body), 100).is_ok(), expected);
    }
}
