//! Compressed bodies are forwarded as they are and decoded only for reading: piece by piece, with a limit, so that a small
//! body that swells costs no more than a large one.

use std::io::{self, Read};

use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, GzDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use model::Unread;

use crate::answer_decoder::{BROTLI_BUFFER, ZSTD_WINDOW};

/// How many encodings one body may be in, one inside the other.
const MAX_CODINGS: usize = 3;

/// The encodings that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Deflate,
    Zstd,
    Brotli,
}

impl Encoding {
    /// The encoding of a body with these headers; none if it cannot be read as it passes.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Encoding> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let Some(value) = values.next() else { return Some(Encoding::Identity) };
        if values.next().is_some() { None } else { Encoding::parse(value.as_bytes()) }
    }

    fn parse(coding: &[u8]) -> Option<Encoding> {
        match coding.trim_ascii().to_ascii_lowercase().as_slice() {
            b"identity" | b"" => Some(Encoding::Identity),
            b"gzip" | b"x-gzip" => Some(Encoding::Gzip),
            b"deflate" => Some(Encoding::Deflate),
            b"zstd" => Some(Encoding::Zstd),
            b"br" => Some(Encoding::Brotli),
            _ => None,
        }
    }

    /// How long a body with these headers may turn out to be: of one that is encoded, only reading it tells.
    pub(crate) fn length(headers: &HeaderMap, body: &Bytes) -> usize {
        if Encoding::of(headers) == Some(Encoding::Identity) { body.len() } else { usize::MAX }
    }
}

/// The body of a request with these headers as it is read: decompressed, and in UTF-8. At most `limit` bytes of it.
pub fn readable(headers: &HeaderMap, body: &Bytes, limit: usize) -> Result<Bytes, Unread> {
    let mut plain = body.clone();
    // Nearly all requests have none.
    if headers.contains_key(CONTENT_ENCODING) {
        for encoding in codings(headers)?.into_iter().rev() {
            plain = decoded(encoding, &plain, limit)?;
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

/// `body` as it was before it was encoded, if that is at most `limit` long.
fn decoded(encoding: Encoding, body: &Bytes, limit: usize) -> Result<Bytes, Unread> {
    let source: &[u8] = body;
    match encoding {
        Encoding::Identity => Ok(body.clone()),
        Encoding::Gzip => {
            // What follows the first member may be rubbish that servers ignore.
            let first_member = |unread| match unread {
                Unread::Undecodable => read_all(|| Some(GzDecoder::new(source)), limit),
                unread => Err(unread),
            };
            read_all(|| Some(MultiGzDecoder::new(source)), limit).or_else(first_member)
        }
        Encoding::Deflate if is_zlib(source) => read_all(|| Some(ZlibDecoder::new(source)), limit),
        Encoding::Deflate => read_all(|| Some(DeflateDecoder::new(source)), limit),
        Encoding::Zstd => read_all(|| zstd_decoder(source), limit),
        Encoding::Brotli => read_all(|| Some(brotli_decompressor::Decompressor::new(source, BROTLI_BUFFER)), limit),
    }
}

/// Whether `deflate` is in its wrapper, as the standard has it, and not bare, as some clients send it: the two bytes of the
/// wrapper say so and have a checksum.
pub(crate) fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [method, flags, ..] if method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]) % 31 == 0)
}

fn zstd_decoder(source: &[u8]) -> Option<impl Read> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(source).ok()?;
    decoder.window_log_max(ZSTD_WINDOW).ok()?;
    Some(decoder)
}

/// Decodes twice, the first time to learn the length: so a body that swells takes no memory at all, and others as much as
/// they have.
fn read_all<R: Read>(decoder: impl Fn() -> Option<R>, limit: usize) -> Result<Bytes, Unread> {
    let open = || decoder().ok_or(Unread::Undecodable);
    let counted = io::copy(&mut open()?.take(limit as u64 + 1), &mut io::sink());
    let length = usize::try_from(counted.map_err(|_| Unread::Undecodable)?).unwrap_or(usize::MAX);
    if length > limit {
        return Err(Unread::TooLarge);
    }
    let mut out = Vec::with_capacity(length);
    open()?.read_to_end(&mut out).map_err(|_| Unread::Undecodable)?;
    Ok(out.into())
}

#[cfg(test)]
pub(crate) mod tests;
