//! Decodes the body of a request for reading. The body itself is forwarded as it came. The decoded
//! length is limited, so a small body that expands costs no more than a large one.

use std::io::Read;

use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, GzDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use model::Unread;

use crate::encoding::{BROTLI_BUFFER, Encoding, ZSTD_WINDOW, is_zlib};

/// How many encodings one body may be in, one inside the other.
const MAX_CODINGS: usize = 3;
/// JSON compresses to about a quarter; the buffer begins with that, within a bound.
const EXPECTED_RATIO: usize = 4;
const MAX_INITIAL_BUFFER: usize = 1 << 20;

/// The body of a request as it is read: decompressed, in UTF-8, and at most `limit` bytes long.
pub fn decode_body(headers: &HeaderMap, body: &Bytes, limit: usize) -> Result<Bytes, Unread> {
    let mut plain = body.clone();
    // Nearly all requests have none.
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
    let read = |decoder: &mut dyn Read| read_limited(decoder, source.len(), limit);
    match encoding {
        Encoding::Identity => Ok(body.clone()),
        Encoding::Gzip => read(&mut MultiGzDecoder::new(source)).or_else(|unread| match unread {
            // Servers ignore bytes after the first member that are no member themselves.
            Unread::Undecodable => read(&mut GzDecoder::new(source)),
            unread => Err(unread),
        }),
        Encoding::Deflate if is_zlib(source) => read(&mut ZlibDecoder::new(source)),
        Encoding::Deflate => read(&mut DeflateDecoder::new(source)),
        Encoding::Zstd => read(&mut zstd_decoder(source).ok_or(Unread::Undecodable)?),
        Encoding::Brotli => read(&mut brotli_decompressor::Decompressor::new(source, BROTLI_BUFFER)),
    }
}

fn zstd_decoder(source: &[u8]) -> Option<impl Read> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(source).ok()?;
    decoder.window_log_max(ZSTD_WINDOW).ok()?;
    Some(decoder)
}

/// Reads `decoder` to its end. A body that is too long holds at most `limit` bytes until that is
/// known; only as many are decoded at once as there are processors.
fn read_limited(decoder: &mut dyn Read, encoded_length: usize, limit: usize) -> Result<Bytes, Unread> {
    let expected = encoded_length.saturating_mul(EXPECTED_RATIO).min(MAX_INITIAL_BUFFER).min(limit);
    let mut plain = Vec::with_capacity(expected);
    decoder.take(limit as u64 + 1).read_to_end(&mut plain).map_err(|_| Unread::Undecodable)?;
    if plain.len() > limit {
        return Err(Unread::TooLarge);
    }
    // It may be kept for long as evidence.
    plain.shrink_to_fit();
    Ok(plain.into())
}

#[cfg(test)]
pub(crate) mod tests;
