//! Usage and cost of a call: reported by the provider, or estimated. Streams that would not report
//! their usage are asked to, and the addition is filtered out of the answer.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::response::Parts;
use wire::{Answer, Dialect, UsageFilter};

use super::expected::{Content, Expected};
use crate::call::Call;
use crate::upstream::destination::Destination;

/// The body to send: a stream that would not report its usage is asked to.
pub(crate) fn ask_for_usage(
    call: &Call,
    expected: &mut Expected,
    destination: &Destination,
    headers: &mut HeaderMap,
    body: Bytes,
) -> Bytes {
    if expected.content != Content::Conversation(Dialect::ChatCompletions) || !call.event.streamed {
        return body;
    }
    let provider = call.event.provider.as_deref().unwrap_or_default();
    let setting = call.core.config.include_usage.get(provider).copied();
    if !setting.unwrap_or_else(|| wire::needs_include_usage(destination.base_url())) {
        return body;
    }
    // A compressed body is not changed.
    if headers.contains_key(CONTENT_ENCODING) {
        return body;
    }
    let Some(asking) = call.core.catch_panic.run(|| wire::ask_for_usage(&body)).flatten() else { return body };
    expected.asks_for_usage = true;
    headers.remove(CONTENT_LENGTH);
    // The addition can only be filtered out of a stream that is not compressed.
    headers.remove(ACCEPT_ENCODING);
    asking
}

/// Removes from the answer what asking for its usage added.
pub(crate) fn usage_filter(expected: &Expected, parts: &mut Parts) -> Option<UsageFilter> {
    if !expected.asks_for_usage {
        return None;
    }
    let content_type = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_stream = content_type.to_ascii_lowercase().starts_with("text/event-stream");
    if !is_stream || parts.headers.contains_key(CONTENT_ENCODING) {
        return None;
    }
    parts.headers.remove(CONTENT_LENGTH);
    Some(UsageFilter::default())
}

/// Records usage, reported or estimated, and cost of the call.
pub(crate) fn note_usage(call: &mut Call, expected: &Expected, answer: &Answer, is_whole: bool) {
    let is_reported = is_whole && answer.usage.output.is_some();
    call.event.usage = match is_reported || !is_paid_for(call, expected, answer) {
        true => answer.usage,
        false => wire::estimated_usage(answer.usage, expected.asked_tokens, answer.answered.as_ref()),
    };
    call.event.estimated = !is_reported && call.event.usage.output.is_some();
    call.note_cost(answer.model.as_deref());
}

/// Whether the provider began an answer, so that the request is charged even if no answer arrived.
/// An error in place of an answer is free, and embeddings cost what their answer says.
fn is_paid_for(call: &Call, expected: &Expected, answer: &Answer) -> bool {
    let is_success = call.event.status.is_some_and(|status| (200..300).contains(&status));
    let is_error = answer.answered.is_none() && answer.error.is_some();
    is_success && !is_error && !matches!(expected.content, Content::Embeddings(_))
}
