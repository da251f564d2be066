//! Determines whether a request carries a conversation: by its path, or else by the shape of its
//! body.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use model::{Format, Unscored};
use wire::{Endpoint, PathKind};

use super::read::{ReadBody, flatten};
use crate::core::Core;
use crate::error::Stop;
use crate::upload::Upload;

/// The content of a request, and its body if that had to be read.
pub(crate) enum Found<'a> {
    Conversation(Endpoint<'a>, ReadBody),
    Nothing(Unscored, Option<Bytes>),
}

/// Finds the conversation that a request to `path` of a provider with this `format` carries.
pub(crate) async fn find_conversation<'a>(
    core: &Core,
    format: Format,
    path: &'a str,
    parts: &Parts,
    upload: &mut Upload,
) -> Result<Found<'a>, Stop> {
    if wire::is_side_call(&parts.headers) {
        return Ok(Found::Nothing(Unscored::Housekeeping, None));
    }
    match PathKind::of(format, &parts.method, path) {
        PathKind::Conversation(endpoint) => {
            Ok(Found::Conversation(endpoint, ReadBody::receive(core, &parts.headers, upload).await?))
        }
        PathKind::Unscored(reason) => Ok(Found::Nothing(reason, None)),
        PathKind::Unknown if is_media(&parts.headers) => Ok(Found::Nothing(Unscored::NoConversation, None)),
        PathKind::Unknown => {
            let body = ReadBody::receive(core, &parts.headers, upload).await?;
            Ok(find_in_body(core, format, &parts.headers, body).await)
        }
    }
}

/// Whether the content type is not text: such uploads are passed through as they come.
fn is_media(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = content_type.split('/').next().unwrap_or_default().trim_ascii();
    ["multipart", "image", "audio", "video"].iter().any(|media| kind.eq_ignore_ascii_case(media))
}

/// Decides by the shape of the body.
async fn find_in_body<'a>(core: &Core, format: Format, headers: &HeaderMap, body: ReadBody) -> Found<'a> {
    let look = |plain: &Bytes| flatten(core.catch_panic.run(|| wire::dialect_of_body(format, plain)));
    let look = || body.plain.as_ref().map_err(|reason| *reason).and_then(look);
    let nothing = |reason, body: ReadBody| Found::Nothing(reason, Some(body.raw));
    match core.blocking.run(body.length(), look).await {
        Ok(Some(dialect)) => Found::Conversation(Endpoint { dialect, model: None, streams: false }, body),
        Ok(None) => nothing(Unscored::NoConversation, body),
        // Most unreadable bodies on unknown paths are not JSON.
        Err(Unscored::Unread(_)) if !is_json(headers) || body.raw.is_empty() => nothing(Unscored::NoConversation, body),
        Err(reason) => nothing(reason, body),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.to_ascii_lowercase().contains("json")
}
