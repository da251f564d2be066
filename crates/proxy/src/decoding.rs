//! Compressed bodies are forwarded as they are and decoded only for reading: piece by piece, with a limit, so that a small
//! body that swells costs no more than a large one.

use std::io::{self, Read, Write};

use brotli_decompressor::DecompressorWriter;
use bytes::Bytes;
use flate2::read::{GzDecoder, ZlibDecoder};
use flate2::write;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

/// The largest window of zstd, as a power of two: what HTTP allows (RFC 9659). A frame may ask for sixteen times as much,
/// and would get that memory for as long as it is read.
const ZSTD_WINDOW: u32 = 23;

/// How much is decoded of brotli at a time. Its window has at most 16 MiB; those beyond the standard are refused.
const BROTLI_BUFFER: usize = 4 << 10;

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
    /// The encoding of a body with these headers; none if it cannot be read.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Encoding> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let Some(value) = values.next() else { return Some(Encoding::Identity) };
        match value.as_bytes().trim_ascii().to_ascii_lowercase().as_slice() {
            _ if values.next().is_some() => None,
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

/// `body` as it was before it was encoded; none if that cannot be had or is longer than `limit`.
pub(crate) fn decoded(encoding: Encoding, body: &Bytes, limit: usize) -> Option<Bytes> {
    let source: &[u8] = body;
    match encoding {
        Encoding::Identity => Some(body.clone()),
        Encoding::Gzip => read_all(|| Some(GzDecoder::new(source)), limit),
        Encoding::Deflate => read_all(|| Some(ZlibDecoder::new(source)), limit),
        Encoding::Zstd => read_all(|| zstd_decoder(source), limit),
        Encoding::Brotli => read_all(|| Some(brotli_decompressor::Decompressor::new(source, BROTLI_BUFFER)), limit),
    }
}

fn zstd_decoder(source: &[u8]) -> Option<impl Read> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(source).ok()?;
    decoder.window_log_max(ZSTD_WINDOW).ok()?;
    Some(decoder)
}

/// Decodes twice, the first time to learn the length: so a body that swells takes no memory at all, and others as much as
/// they have.
fn read_all<R: Read>(decoder: impl Fn() -> Option<R>, limit: usize) -> Option<Bytes> {
    let length = io::copy(&mut decoder()?.take(limit as u64 + 1), &mut io::sink()).ok()?;
    let length = usize::try_from(length).ok().filter(|length| *length <= limit)?;
    let mut out = Vec::with_capacity(length);
    decoder()?.read_to_end(&mut out).ok()?;
    Some(out.into())
}

/// Decodes what is written to it, and writes that to `W`.
pub(crate) enum Decoder<W: Write + 'static> {
    Plain(W),
    Gzip(Box<write::GzDecoder<W>>),
    Deflate(Box<write::ZlibDecoder<W>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, W>>),
    Brotli(Box<DecompressorWriter<W>>),
}

impl<W: Write> Decoder<W> {
    pub(crate) fn new(encoding: Encoding, sink: W) -> io::Result<Decoder<W>> {
        Ok(match encoding {
            Encoding::Identity => Decoder::Plain(sink),
            Encoding::Gzip => Decoder::Gzip(Box::new(write::GzDecoder::new(sink))),
            Encoding::Deflate => Decoder::Deflate(Box::new(write::ZlibDecoder::new(sink))),
            Encoding::Zstd => {
                let mut decoder = zstd::stream::write::Decoder::new(sink)?;
                decoder.window_log_max(ZSTD_WINDOW)?;
                Decoder::Zstd(Box::new(decoder))
            }
            Encoding::Brotli => Decoder::Brotli(Box::new(DecompressorWriter::new(sink, BROTLI_BUFFER))),
        })
    }

    /// Decodes `data` through to the sink.
    pub(crate) fn pass(&mut self, data: &[u8]) -> io::Result<()> {
        let decoder: &mut dyn Write = match self {
            Decoder::Plain(sink) => return sink.write_all(data),
            Decoder::Gzip(decoder) => decoder,
            Decoder::Deflate(decoder) => decoder,
            Decoder::Zstd(decoder) => decoder,
            Decoder::Brotli(decoder) => decoder,
        };
        decoder.write_all(data)?;
        decoder.flush()
    }

    pub(crate) fn sink(&self) -> &W {
        match self {
            Decoder::Plain(sink) => sink,
            Decoder::Gzip(decoder) => decoder.get_ref(),
            Decoder::Deflate(decoder) => decoder.get_ref(),
            Decoder::Zstd(decoder) => decoder.get_ref(),
            Decoder::Brotli(decoder) => decoder.get_ref(),
        }
    }

    pub(crate) fn sink_mut(&mut self) -> &mut W {
        match self {
            Decoder::Plain(sink) => sink,
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Deflate(decoder) => decoder.get_mut(),
            Decoder::Zstd(decoder) => decoder.get_mut(),
            Decoder::Brotli(decoder) => decoder.get_mut(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use flate2::Compression;

    use super::*;

    fn encoded(encoding: Encoding, plain: &[u8]) -> Vec<u8> {
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

    const ALL: [Encoding; 5] =
        [Encoding::Identity, Encoding::Gzip, Encoding::Deflate, Encoding::Zstd, Encoding::Brotli];

    /// A hundred thousand times `x` in brotli.
    const BROTLI_BOMB: &[u8] = b"\x53\x9f\x86\x81\x5f\x02\x2f\x1e\x0b\x04\xb2\xfc\x02\x00";

    /// A short text in brotli, uncompressed: the window's size, the length, the text, and the end.
    fn brotli(plain: &[u8]) -> Vec<u8> {
        // The lowest bits first: 4 of them say 0011 (a window of 18 bits), 1 that this is not the last, 2 that the length
        // has 4 digits, 16 the length less one, 1 that it is as it is.
        let length = u32::try_from(plain.len() - 1).unwrap();
        let head = 0b0011 | length << 7 | 1 << 23;
        [&head.to_le_bytes()[..3], plain, &[0b11]].concat()
    }

    #[test]
    fn a_whole_body_is_decoded_up_to_the_limit() {
        for encoding in ALL {
            let body = Bytes::from(encoded(encoding, b"{\"model\":\"m\"}"));
            assert_eq!(decoded(encoding, &body, 100).as_deref(), Some(&b"{\"model\":\"m\"}"[..]), "{encoding:?}");
        }
        let swelling = Bytes::from(encoded(Encoding::Zstd, &[b'x'; 100_000]));
        assert_eq!(decoded(Encoding::Zstd, &swelling, 99_999), None);
        assert_eq!(decoded(Encoding::Gzip, &Bytes::from_static(b"not gzip"), 100), None);
        assert_eq!(decoded(Encoding::Brotli, &Bytes::from_static(BROTLI_BOMB), 99_999), None);
        assert_eq!(decoded(Encoding::Brotli, &Bytes::from_static(BROTLI_BOMB), 100_000).unwrap().len(), 100_000);
        assert_eq!(decoded(Encoding::Brotli, &Bytes::from_static(b"not brotli"), 100), None);
    }

    #[test]
    fn a_window_larger_than_http_allows_is_not_made_room_for() {
        let with_window = |log: u32| {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            encoder.window_log(log).unwrap();
            encoder.write_all(b"{}").unwrap();
            encoder.finish().unwrap()
        };
        for (log, expected) in [(ZSTD_WINDOW, true), (ZSTD_WINDOW + 1, false)] {
            let body = with_window(log);
            assert_eq!(Decoder::new(Encoding::Zstd, Vec::new()).unwrap().pass(&body).is_ok(), expected);
            assert_eq!(decoded(Encoding::Zstd, &body.into(), 100).is_some(), expected);
        }
    }

    #[test]
    fn a_stream_is_decoded_as_it_passes() {
        let plain = b"data: {\"a\":1}\n\ndata: [DONE]\n\n";
        for encoding in ALL {
            let mut decoder = Decoder::new(encoding, Vec::new()).unwrap();
            for byte in encoded(encoding, plain) {
                decoder.pass(&[byte]).unwrap();
            }
            assert_eq!(decoder.sink(), plain, "{encoding:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_known_from_the_headers() {
        let check = |value: &'static str, expected: Option<Encoding>| {
            let headers = HeaderMap::from_iter([(CONTENT_ENCODING, http::HeaderValue::from_static(value))]);
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
