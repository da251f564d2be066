#![allow(clippy::unwrap_used, reason = "a test may")]

use std::cell::Cell;
use std::io::Write;

use flate2::{Compression, write};
use http::HeaderValue;

use super::*;

pub(crate) const PLAIN: &[u8] = b"{\"model\":\"m\"}";

pub(crate) fn encoded(encoding: Encoding, plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match encoding {
        Encoding::Identity => out.extend_from_slice(plain),
        Encoding::Gzip => write::GzEncoder::new(&mut out, Compression::fast()).write_all(plain).unwrap(),
        Encoding::Deflate => write::ZlibEncoder::new(&mut out, Compression::fast()).write_all(plain).unwrap(),
        Encoding::Zstd => out = zstd::bulk::compress(plain, 1).unwrap(),
        Encoding::Brotli => out = brotli(plain),
    }
    out
}

pub(crate) fn bare_deflate(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write::DeflateEncoder::new(&mut out, Compression::fast()).write_all(plain).unwrap();
    out
}

pub(crate) const ALL: [Encoding; 5] =
    [Encoding::Identity, Encoding::Gzip, Encoding::Deflate, Encoding::Zstd, Encoding::Brotli];

/// A hundred thousand times `x` in brotli.
const BROTLI_BOMB: &[u8] = b"\x53\x9f\x86\x81\x5f\x02\x2f\x1e\x0b\x04\xb2\xfc\x02\x00";

/// A short text in brotli, uncompressed: the window's size, the length, the text, and the end.
fn brotli(plain: &[u8]) -> Vec<u8> {
    // The lowest bits first: 4 bits 0011 (a window of 18 bits), 1 for not the last block, 2 for a
    // length of 4 digits, 16 for the length less one, 1 for uncompressed.
    let length = u32::try_from(plain.len() - 1).unwrap();
    let head = 0b0011 | length << 7 | 1 << 23;
    [&head.to_le_bytes()[..3], plain, &[0b11]].concat()
}

/// The decoded body for these `content-encoding` headers.
fn read(codings: &[&'static str], body: impl Into<Bytes>, limit: usize) -> Result<Bytes, Unread> {
    let mut headers = HeaderMap::new();
    for coding in codings {
        headers.append(CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    decode_body(&headers, &body.into(), limit)
}

#[test]
fn bodies_are_decoded_up_to_the_limit() {
    for (encoding, coding) in ALL.into_iter().zip(["identity", "GZIP", "deflate", "zstd", "br"]) {
        assert_eq!(read(&[coding], encoded(encoding, PLAIN), 100).as_deref(), Ok(PLAIN), "{encoding:?}");
    }
    assert_eq!(read(&["zstd"], encoded(Encoding::Zstd, &[b'x'; 100_000]), 99_999), Err(Unread::TooLarge));
    assert_eq!(read(&["gzip"], "not gzip", 100), Err(Unread::Undecodable));
    assert_eq!(read(&["br"], BROTLI_BOMB, 99_999), Err(Unread::TooLarge));
    assert_eq!(read(&["br"], BROTLI_BOMB, 100_000).unwrap().len(), 100_000);
    assert_eq!(read(&["br"], "not brotli", 100), Err(Unread::Undecodable));
}

#[test]
fn unusual_forms_of_an_encoding_are_read() {
    let (left, right) = PLAIN.split_at(5);
    let members = [encoded(Encoding::Gzip, left), encoded(Encoding::Gzip, right)].concat();
    assert_eq!(read(&["gzip"], members, 100).as_deref(), Ok(PLAIN));
    let followed = [&encoded(Encoding::Gzip, PLAIN)[..], b"rubbish"].concat();
    assert_eq!(read(&["gzip"], followed, 100).as_deref(), Ok(PLAIN));
    assert_eq!(read(&["deflate"], bare_deflate(PLAIN), 100).as_deref(), Ok(PLAIN));
    let frames = [encoded(Encoding::Zstd, left), encoded(Encoding::Zstd, right)].concat();
    assert_eq!(read(&["zstd"], frames, 100).as_deref(), Ok(PLAIN));
}

#[test]
fn nested_encodings_are_read() {
    let twice = encoded(Encoding::Zstd, &encoded(Encoding::Gzip, PLAIN));
    assert_eq!(read(&["gzip, zstd"], twice.clone(), 100).as_deref(), Ok(PLAIN));
    assert_eq!(read(&["gzip", "zstd"], twice.clone(), 100).as_deref(), Ok(PLAIN));
    assert_eq!(read(&["zstd, gzip"], twice, 100), Err(Unread::Undecodable));
    assert_eq!(read(&["gzip, gzip, gzip, gzip"], "", 100), Err(Unread::UnknownEncoding));
    assert_eq!(read(&["compress"], "", 100), Err(Unread::UnknownEncoding));
}

#[test]
fn decoded_text_is_converted_to_utf8() {
    let utf16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read(&["gzip"], encoded(Encoding::Gzip, &utf16), 100).as_deref(), Ok(&b"{}"[..]));
    assert_eq!(read(&[], "\u{feff}{}", 100).as_deref(), Ok(&b"{}"[..]));
}

#[test]
fn a_body_that_expands_in_layers_is_refused_at_the_limit() {
    let layered = encoded(Encoding::Gzip, &encoded(Encoding::Gzip, &vec![b' '; 4 << 20]));
    assert!(layered.len() < 1_000);
    assert_eq!(read(&["gzip, gzip"], layered, 1 << 20), Err(Unread::TooLarge));
}

/// A decoder that counts the bytes which are taken from it.
struct Counting<'a>(&'a [u8], &'a Cell<usize>);

impl Read for Counting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(buffer)?;
        self.1.set(self.1.get() + count);
        Ok(count)
    }
}

#[test]
fn short_body_is_decoded_once_and_no_body_further_than_the_limit() {
    let check = |length: usize, limit: usize, expected: usize| {
        let (plain, count) = (vec![b'x'; length], Cell::new(0));
        let read = read_limited(|| Some(Counting(&plain, &count)), 10, limit);
        assert_eq!(read.map(|read| read.len()).ok(), (length <= limit).then_some(length));
        assert_eq!(count.get(), expected);
    };
    check(1_000, 1_000, 1_000);
    check(5_000, 1_000, 1_001);
    let long = READ_AT_ONCE + 5_000;
    check(long, 2 * long, 2 * long);
    check(2 * long, long, long + 1);
}
