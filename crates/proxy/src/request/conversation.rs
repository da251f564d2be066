//! Whether a request carries a conversation: its path tells, or else the shape of its body.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use model::{Unread, Unscored};
use wire::{Dialect, Endpoint, PathKind};

use crate::decoding::{Encoding, readable};
use crate::error::Stop;
use crate::exchange::Exchange;
use crate::upload::Upload;

/// What a request carries, and its body where it had to be read.
pub(crate) enum Found<'a> {
    Conversation(Endpoint<'a>, Bytes),
    Nothing(Unscored, Option<Bytes>),
}

/// Finds the conversation that a request carries.
pub(crate) async fn find_conversation<'a>(
    exchange: &Exchange,
    path: &'a str,
    parts: &Parts,
    upload: &mut Upload,
) -> Result<Found<'a>, Stop> {
    if wire::is_side_call(&parts.headers) {
        return Ok(Found::Nothing(Unscored::Housekeeping, None));
    }
    match PathKind::of(exchange.format, &parts.method, path) {
        PathKind::Conversation(endpoint) => {
            Ok(Found::Conversation(endpoint, upload.collect(&exchange.core.room).await?))
        }
        PathKind::Unscored(reason) => Ok(Found::Nothing(reason, None)),
        PathKind::Unknown if is_media(&parts.headers) => Ok(Found::Nothing(Unscored::NoConversation, None)),
        PathKind::Unknown => {
            let body = upload.collect(&exchange.core.room).await?;
            Ok(look_at_body(exchange, &parts.headers, body).await)
        }
    }
}

/// Whether the content type says that the body is no text: such uploads pass through as they come.
fn is_media(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = content_type.split('/').next().unwrap_or_default().trim_ascii();
    ["multipart", "image", "audio", "video"].iter().any(|media| kind.eq_ignore_ascii_case(media))
}

/// Decides by the shape of the body.
async fn look_at_body<'a>(exchange: &Exchange, headers: &HeaderMap, body: Bytes) -> Found<'a> {
    let core = &exchange.core;
    let look = || core.shield.run(|| dialect_of(exchange, headers, &body));
    match core.aside.run(Encoding::length(headers, &body), look).await {
        Some(Ok(Some(dialect))) => Found::Conversation(Endpoint { dialect, model: None, streams: false }, body),
        Some(Ok(None)) => Found::Nothing(Unscored::NoConversation, Some(body)),
        // Most bodies that come to such a path and cannot be read were never JSON.
        Some(Err(unread)) if says_json(headers) && !body.is_empty() => {
            Found::Nothing(Unscored::Unread(unread), Some(body))
        }
        Some(Err(_)) => Found::Nothing(Unscored::NoConversation, Some(body)),
        None => Found::Nothing(Unscored::DetectionFailed, Some(body)),
    }
}

fn dialect_of(exchange: &Exchange, headers: &HeaderMap, body: &Bytes) -> Result<Option<Dialect>, Unread> {
    let body = readable(headers, body, exchange.core.config.max_read())?;
    wire::dialect_of_body(exchange.format, &body)
}

fn says_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.to_ascii_lowercase().contains("json")
}
