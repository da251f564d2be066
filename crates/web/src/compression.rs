//! Answers in gzip, for clients that accept it. Each piece of a body is compressed as it comes, so
//! an export of any length takes little memory.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderValue, VARY,
};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::{Body as _, Frame};

/// A shorter body fits into one packet either way.
const MIN_LENGTH: u64 = 1024;

/// Most of the gain of the slowest level, in a third of its time.
const LEVEL: u32 = 4;

/// How much is compressed at a time, about a millisecond's work: calls of agents share the threads,
/// and evidence may have tens of megabytes.
const PIECE: usize = 64 * 1024;

/// Text, except event streams: an event would wait in the compressor.
const COMPRESSED_TYPES: [&str; 7] = [
    "text/html",
    "text/css",
    "text/csv",
    "text/javascript",
    "image/svg+xml",
    "application/json",
    "application/problem+json",
];

/// Compresses the answer if the client accepts that and it is worth it.
pub(crate) async fn compress(request: Request, next: Next) -> Response {
    let accepts = request.method() != Method::HEAD && accepts_gzip(request.headers());
    let mut response = next.run(request).await;
    if !is_compressible(response.headers()) {
        return response;
    }
    response.headers_mut().append(VARY, HeaderValue::from_static("accept-encoding"));
    if !accepts || response.body().size_hint().upper().is_some_and(|length| length < MIN_LENGTH) {
        return response;
    }
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.headers_mut().remove(CONTENT_LENGTH);
    response.map(|body| Body::new(GzipBody::new(body)))
}

fn is_compressible(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let is_as_it_is = headers.contains_key(CONTENT_ENCODING) || headers.contains_key(CONTENT_RANGE);
    !is_as_it_is && COMPRESSED_TYPES.contains(&essence)
}

/// Whether the client accepts gzip. A weight of 0 refuses it; a weight for gzip overrides that of
/// `*`.
fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut any = false;
    for coding in values.flat_map(|value| value.split(',')) {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = parameters.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        let is_accepted = weight.is_ok_and(|weight| weight > 0.0);
        match name.trim() {
            name if name.eq_ignore_ascii_case("gzip") => return is_accepted,
            "*" => any = is_accepted,
            _ => {}
        }
    }
    any
}

/// A body that is compressed as it is read.
struct GzipBody {
    body: Body,
    /// What was read and is not compressed yet.
    pending: Bytes,
    /// Whether the task has let others run since the last piece.
    has_yielded: bool,
    /// `None` once everything has been handed on.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl GzipBody {
    fn new(body: Body) -> GzipBody {
        let encoder = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
        GzipBody { body, pending: Bytes::new(), has_yielded: true, encoder: Some(encoder) }
    }

    /// Compresses the next piece; what comes out may be empty.
    fn compress_piece(&mut self) -> io::Result<Bytes> {
        let piece = self.pending.split_to(self.pending.len().min(PIECE));
        self.has_yielded = self.pending.is_empty();
        let Some(encoder) = &mut self.encoder else { return Ok(Bytes::new()) };
        encoder.write_all(&piece)?;
        Ok(std::mem::take(encoder.get_mut()).into())
    }

    /// What is still in the compressor.
    fn finish(&mut self) -> Option<io::Result<Bytes>> {
        self.encoder.take().map(|encoder| encoder.finish().map(Bytes::from))
    }
}

impl http_body::Body for GzipBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        loop {
            if !std::mem::replace(&mut self.has_yielded, true) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let compressed = if !self.pending.is_empty() {
                self.compress_piece()
            } else {
                match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                    // Without the end of the gzip stream, a file that broke off does not look
                    // complete.
                    Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                    Some(Ok(frame)) => {
                        // Only data: our answers have no trailers.
                        self.pending = frame.into_data().unwrap_or_default();
                        continue;
                    }
                    None => match self.finish() {
                        Some(rest) => rest,
                        None => return Poll::Ready(None),
                    },
                }
            };
            match compressed {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Err(error) => return Poll::Ready(Some(Err(axum::Error::new(error)))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn gzip_is_used_only_where_it_is_accepted() {
        for (header, expected) in [
            ("gzip", true),
            ("gzip, deflate, br, zstd", true),
            ("br;q=1.0, GZIP;q=0.1", true),
            ("*", true),
            ("*;q=0, gzip", true),
            ("gzip;q=0, *", false),
            ("gzip; q=0.000", false),
            ("gzip;q=x", false),
            ("br, deflate", false),
            ("identity", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(header))]);
            assert_eq!(accepts_gzip(&headers), expected, "{header}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn large_body_is_compressed_in_pieces_that_let_other_tasks_run() {
        let text: Vec<u8> = (0..10 * PIECE).map(|number| (number * number / 7) as u8).collect();
        let (mut body, mut waits, mut sent) = (GzipBody::new(Body::from(text.clone())), 0, Vec::new());
        while let Some(frame) = std::future::poll_fn(|cx| {
            let polled = Pin::new(&mut body).poll_frame(cx);
            waits += usize::from(polled.is_pending());
            polled
        })
        .await
        {
            sent.extend_from_slice(frame.unwrap().data_ref().unwrap());
        }
        assert_eq!(waits, 9);
        let mut inflated = Vec::new();
        GzDecoder::new(sent.as_slice()).read_to_end(&mut inflated).unwrap();
        assert!(inflated == text);
    }
}
