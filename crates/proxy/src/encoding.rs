//! The supported content encodings, and limits on decoding.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// The largest zstd window, as a power of two: what HTTP allows (RFC 9659). A frame may ask for
/// sixteen times as much, and would hold that memory while it is read.
pub(crate) const ZSTD_WINDOW: u32 = 23;

/// Bytes of brotli that are decoded at a time. Its window has at most 16 MiB; larger windows, which
/// are not standard, are refused.
pub(crate) const BROTLI_BUFFER: usize = 4 << 10;

/// The supported encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Identity,
    Gzip,
    Deflate,
    Zstd,
    Brotli,
}

impl Encoding {
    /// The encoding of a body with these headers; `None` if it cannot be decoded as it passes.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Encoding> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let Some(value) = values.next() else { return Some(Encoding::Identity) };
        if values.next().is_some() { None } else { Encoding::parse(value.as_bytes()) }
    }

    pub(crate) fn parse(coding: &[u8]) -> Option<Encoding> {
        match coding.trim_ascii().to_ascii_lowercase().as_slice() {
            b"identity" | b"" => Some(Encoding::Identity),
            b"gzip" | b"x-gzip" => Some(Encoding::Gzip),
            b"deflate" => Some(Encoding::Deflate),
            b"zstd" => Some(Encoding::Zstd),
            b"br" => Some(Encoding::Brotli),
            _ => None,
        }
    }

    /// The most bytes that `body` may decode to; unknown before decoding, unless it is plain.
    pub(crate) fn length_bound(headers: &HeaderMap, body: &Bytes) -> usize {
        if Encoding::of(headers) == Some(Encoding::Identity) { body.len() } else { usize::MAX }
    }
}

/// Whether `deflate` has its zlib wrapper, as the standard requires. Some clients omit it; a
/// checksum in its first two bytes shows that it is there.
pub(crate) fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [method, flags, ..] if method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]) % 31 == 0)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn encodings_of_answers_are_known_from_the_headers() {
        let check = |value: &'static str, expected: Option<Encoding>| {
            let headers = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static(value))]);
            assert_eq!(Encoding::of(&headers), expected, "{value}");
        };
        assert_eq!(Encoding::of(&HeaderMap::new()), Some(Encoding::Identity));
        check("GZIP", Some(Encoding::Gzip));
        check("zstd", Some(Encoding::Zstd));
        check("br", Some(Encoding::Brotli));
        check("compress", None);
        check("gzip, zstd", None);
    }
}
