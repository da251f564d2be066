//! Requests, answers and streams in every dialect.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use model::Unread;
use wire::{Answer, AnswerReader, Dialect, UsageFilter, conversation_of, read_request};

const CONTENT_TYPES: [&str; 4] =
    ["text/event-stream", "application/x-ndjson", "application/json", "application/vnd.amazon.eventstream"];

/// An answer reads the same however it is sliced, and can break off anywhere. The first byte picks
/// dialect and content type, the second the place of the cut; the rest is the answer.
pub(crate) fn answer(input: &[u8]) {
    let [kind, cut, body @ ..] = input else { return };
    let dialect = Dialect::ALL[usize::from(*kind) % Dialect::ALL.len()];
    let content_type = CONTENT_TYPES[usize::from(*kind) / Dialect::ALL.len() % CONTENT_TYPES.len()];
    let whole = read(dialect, content_type, [body]);
    assert_eq!(whole, read(dialect, content_type, body.chunks(usize::from(*cut).max(1))));
    let (left, right) = body.split_at(usize::from(*cut).min(body.len()));
    assert_eq!(whole, read(dialect, content_type, [left, right]));

    let mut broken = reader(dialect, content_type);
    broken.feed(left);
    if let Some(error) = broken.stream_error("died") {
        broken.feed(&error);
        assert!(broken.finish().error.is_some());
    }
}

/// A request that is read has a conversation and a newest message; one reported as invalid JSON is
/// invalid. The first byte picks the dialect.
pub(crate) fn request(input: &[u8]) {
    let [kind, body @ ..] = input else { return };
    let dialect = Dialect::ALL[usize::from(*kind) % Dialect::ALL.len()];
    match read_request(dialect, body) {
        Ok(asked) => {
            assert!(!conversation_of(&HeaderMap::new(), &asked).is_empty());
            assert!(!asked.newest_message.is_empty());
        }
        Err(Unread::InvalidJson) => {
            assert!(serde_json::from_slice::<serde::de::IgnoredAny>(body).is_err());
        }
        Err(_) => {}
    }
}

/// The filter's output does not depend on how the stream is cut, and the filter only removes bytes.
/// The first byte picks the place of the cut; the rest is the stream.
pub(crate) fn usage_filter(input: &[u8]) {
    let [cut, stream @ ..] = input else { return };
    let whole = filtered([stream]);
    assert_eq!(whole, filtered(stream.chunks(1)));
    assert_eq!(whole, filtered(stream.chunks(usize::from(*cut).max(1))));
    let (left, right) = stream.split_at(usize::from(*cut).min(stream.len()));
    assert_eq!(whole, filtered([left, right]));
    let mut rest = stream.iter();
    assert!(whole.iter().all(|byte| rest.any(|other| other == byte)), "the filter added bytes");
}

fn filtered<'a>(slices: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut filter = UsageFilter::default();
    let mut out: Vec<u8> = slices.into_iter().flat_map(|slice| filter.pass(&Bytes::copy_from_slice(slice))).collect();
    out.extend_from_slice(&filter.finish(true));
    out
}

fn reader(dialect: Dialect, content_type: &'static str) -> AnswerReader {
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
    AnswerReader::new(dialect, &headers, 1 << 16)
}

fn read<'a>(dialect: Dialect, content_type: &'static str, slices: impl IntoIterator<Item = &'a [u8]>) -> Answer {
    let mut reader = reader(dialect, content_type);
    slices.into_iter().for_each(|slice| reader.feed(slice));
    reader.finish()
}
