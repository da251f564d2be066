//! Decodes the body of a request for reading. The body itself is forwarded unchanged. The decoded
//! length is limited, so a small body that expands costs no more than a large one.

use std::io::Read;

use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, GzDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use model::Unread;

use crate::encoding::{BROTLI_BUFFER, Encoding, ZSTD_WINDOW, is_zlib};

/// The most nested encodings of one body.
const MAX_CODINGS: usize = 3;
/// JSON compresses to about a quarter, which is the initial size of the buffer.
const EXPECTED_RATIO: usize = 4;
/// Shorter bodies are decoded in one pass.
const READ_AT_ONCE: usize = 2 << 20;

/// The body of a request as it is read: decompressed, in UTF-8, and at most `limit` bytes long.
pub fn decode_body(headers: &HeaderMap, body: &Bytes, limit: usize) -> Result<Bytes, Unread> {
    let mut plain = body.clone();
    // Nearly all requests have no encoding.
    if headers.contains_key(CONTENT_ENCODING) {
        for encoding in codings(headers)?.into_iter().rev() {
            plain = decode(encoding, &plain, limit)?;
        }
    }
    wire::utf8_body(plain)
}

/// The encodings of a body, in the order in which they were applied.
fn codings(headers: &HeaderMap) -> Result<Vec<Encoding>, Unread> {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let codings = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let parsed: Option<Vec<Encoding>> = codings.map(Encoding::parse).take(MAX_CODINGS + 1).collect();
    parsed.filter(|codings| codings.len() <= MAX_CODINGS).ok_or(Unread::UnknownEncoding)
}

/// `body` without this `encoding`, if that is at most `limit` bytes.
fn decode(encoding: Encoding, body: &Bytes, limit: usize) -> Result<Bytes, Unread> {
    let source: &[u8] = body;
    match encoding {
        Encoding::Identity => Ok(body.clone()),
        Encoding::Gzip => match read_limited(|| Some(MultiGzDecoder::new(source)), source.len(), limit) {
            // Servers ignore trailing bytes after the first member.
            Err(Unread::Undecodable) => read_limited(|| Some(GzDecoder::new(source)), source.len(), limit),
            read => read,
        },
        Encoding::Deflate if is_zlib(source) => read_limited(|| Some(ZlibDecoder::new(source)), source.len(), limit),
        Encoding::Deflate => read_limited(|| Some(DeflateDecoder::new(source)), source.len(), limit),
        Encoding::Zstd => read_limited(|| zstd_decoder(source), source.len(), limit),
        Encoding::Brotli => {
            let decoder = || Some(brotli_decompressor::Decompressor::new(source, BROTLI_BUFFER));
            read_limited(decoder, source.len(), limit)
        }
    }
}

fn zstd_decoder(source: &[u8]) -> Option<impl Read> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(source).ok()?;
    decoder.window_log_max(ZSTD_WINDOW).ok()?;
    Some(decoder)
}

/// Reads a decoder to its end. A body longer than `READ_AT_ONCE` is decoded twice: the first pass
/// only counts, so that a body over the limit takes no memory; the second fills a buffer of its
/// length.
fn read_limited<R: Read>(open: impl Fn() -> Option<R>, encoded_length: usize, limit: usize) -> Result<Bytes, Unread> {
    let decoder = open().ok_or(Unread::Undecodable)?;
    let at_once = limit.min(READ_AT_ONCE);
    let expected = encoded_length.saturating_mul(EXPECTED_RATIO).min(at_once);
    let mut plain = Vec::with_capacity(expected);
    let mut decoder = decoder.take(at_once as u64 + 1);
    decoder.read_to_end(&mut plain).map_err(|_| Unread::Undecodable)?;
    if plain.len() > at_once {
        decoder.set_limit((limit - at_once) as u64);
        let rest = std::io::copy(&mut decoder, &mut std::io::sink()).map_err(|_| Unread::Undecodable)?;
        let length = plain.len() + usize::try_from(rest).map_err(|_| Unread::TooLarge)?;
        if length > limit {
            return Err(Unread::TooLarge);
        }
        plain = Vec::with_capacity(length);
        let mut decoder = open().ok_or(Unread::Undecodable)?;
        decoder.read_to_end(&mut plain).map_err(|_| Unread::Undecodable)?;
    }
    // The buffer may be kept for long as evidence.
    plain.shrink_to_fit();
    Ok(plain.into())
}

#[cfg(test)]
pub(crate) mod tests;
