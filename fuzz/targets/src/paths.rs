//! Paths, headers, and bodies whose path is unknown.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use model::{Format, Unread};
use wire::{Dialect, Endpoint, PathKind, conversation_of, dialect_of_body, path_with_model, read_request, utf8_body};

const FORMATS: [Format; 4] = [Format::Openai, Format::Anthropic, Format::Gemini, Format::Ollama];

/// A path is classified, a model in it can be replaced without changing the rest, and dot segments
/// are seen however they are encoded. The first line of the input is the path, the others are
/// headers.
pub(crate) fn path(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut lines = text.lines();
    let path = lines.next().unwrap_or_default();
    for format in FORMATS {
        let kind = PathKind::of(format, &Method::POST, path);
        assert_eq!(kind, PathKind::of(format, &Method::POST, path));
        if let PathKind::Conversation(Endpoint { model: Some(model), .. }) = kind {
            assert!(path.contains(model));
            if let Some(changed) = path_with_model(path, model, "another") {
                assert_eq!(changed.len() + model.len(), path.len() + "another".len());
            }
        }
    }
    Endpoint::embeds(&Method::POST, path);
    assert!(!climbs_when_decoded(path) || proxy::has_dot_segments(path), "{path:?}");
    let named = lines.filter_map(|line| line.split_once(':'));
    let headers: HeaderMap = named
        .filter_map(|(name, value)| Some((name.parse::<HeaderName>().ok()?, HeaderValue::from_str(value.trim()).ok()?)))
        .collect();
    wire::is_side_call(&headers);
    let asked = model::Asked { prompt: vec![path.into()], ..model::Asked::default() };
    let conversation = conversation_of(&headers, &asked);
    assert!(!conversation.is_empty() && conversation.len() <= 128 && conversation.is_ascii(), "{conversation:?}");
}

/// Whether a server that decodes a path once, twice or more often finds the segment `..` in it.
fn climbs_when_decoded(path: &str) -> bool {
    let mut text = path.as_bytes().to_vec();
    loop {
        if text.split(|byte| *byte == b'/').any(|segment| segment == b"..") {
            return true;
        }
        let decoded = decode_once(&text);
        if decoded == text {
            return false;
        }
        text = decoded;
    }
}

fn decode_once(mut text: &[u8]) -> Vec<u8> {
    let hex = |digit: u8| char::from(digit).to_digit(16);
    let mut decoded = Vec::new();
    while let [first, rest @ ..] = text {
        text = rest;
        decoded.push(*first);
        if let (b'%', [high, low, rest @ ..]) = (first, rest)
            && let (Some(high), Some(low)) = (hex(*high), hex(*low))
        {
            text = rest;
            decoded.pop();
            decoded.push((high * 16 + low) as u8);
        }
    }
    decoded
}

/// A body with the shape of a conversation is read as one, a body reported as invalid JSON is
/// invalid, and UTF-16 reads like UTF-8.
pub(crate) fn body_form(input: &[u8]) {
    for format in FORMATS {
        match dialect_of_body(format, input) {
            Ok(Some(dialect)) => assert!(read_request(dialect, input).is_ok(), "{dialect:?}"),
            Ok(None) | Err(Unread::NotUtf8 | Unread::TooDeep) => {}
            Err(Unread::InvalidJson) => assert!(serde_json::from_slice::<serde::de::IgnoredAny>(input).is_err()),
            Err(unread) => panic!("{unread}"),
        }
    }
    let Ok(text) = std::str::from_utf8(input) else { return };
    if !text.starts_with('{') {
        let _ = utf8_body(Bytes::copy_from_slice(input));
        return;
    }
    let marked: Vec<u8> = std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    assert_eq!(utf8_body(Bytes::from(marked)).as_deref(), Ok(input));
    for dialect in Dialect::ALL {
        let _ = read_request(dialect, input);
    }
}
