//! The id of the conversation that a call belongs to.

use http::header::{HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use model::{Asked, ConversationId};
use twox_hash::XxHash3_64;

/// The longest id that is kept, in characters.
const MAX_LENGTH: usize = 128;

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The prefix of the names of conversations that are identified by a person and their first words.
const BY_PERSON: &str = "user-";

/// Codex' header on calls of sub-agents and of its own housekeeping.
const SUBAGENT: HeaderName = HeaderName::from_static("x-openai-subagent");

/// Headers that name the conversation, most specific first.
const SESSION_HEADERS: [&str; 5] =
    ["x-litellm-trace-id", "x-litellm-session-id", "helicone-session-id", "x-portkey-trace-id", "x-session-id"];

/// The id of this call's conversation: an id that the client sent, or else a hash of the first user
/// message.
///
/// `traceparent` is ignored: most tracers begin a new trace with every call, which would put each
/// call of a stuck agent into its own conversation.
pub fn conversation_of(headers: &HeaderMap, asked: &Asked<'_>) -> String {
    named_by_headers(headers)
        .or_else(|| asked.session.as_deref().and_then(printable))
        // The answer that the call continues is unknown. Its id still groups the calls that
        // continue it.
        .or_else(|| asked.continues.as_ref().and_then(|continues| printable(continues.id())))
        .unwrap_or_else(|| first_message(asked))
}

fn named_by_headers(headers: &HeaderMap) -> Option<String> {
    // Most calls have no such header, and a lookup of each name would take longer than everything
    // else here.
    let may_name_one = |name: &str| name.ends_with("id") || name == "baggage";
    if !headers.keys().map(HeaderName::as_str).any(may_name_one) {
        return None;
    }
    header(headers, "x-agentgazer-session-id")
        .or_else(|| claude_code(headers))
        .or_else(|| codex(headers))
        .or_else(|| SESSION_HEADERS.into_iter().find_map(|name| header(headers, name)))
        .or_else(|| any_session_header(headers))
        .or_else(|| baggage(headers))
}

/// A sub-agent shares the session of the agent that started it, so its own id is added.
fn claude_code(headers: &HeaderMap) -> Option<String> {
    let session = header(headers, "x-claude-code-session-id")?;
    Some(with_part(session, header(headers, "x-claude-code-agent-id")))
}

/// These header names are too general to trust from other clients. A thread that differs from the
/// session is a sub-agent's.
fn codex(headers: &HeaderMap) -> Option<String> {
    if !is_codex(headers) {
        return None;
    }
    let first_of = |names: [&str; 2]| names.into_iter().find_map(|name| header(headers, name));
    let thread = first_of(["thread-id", "conversation_id"]);
    let session = first_of(["session-id", "session_id"]).or_else(|| thread.clone())?;
    let part = header(headers, SUBAGENT.as_str()).or(thread.filter(|thread| *thread != session));
    Some(with_part(session, part))
}

fn is_codex(headers: &HeaderMap) -> bool {
    let user_agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    user_agent.to_ascii_lowercase().contains("codex")
}

/// Whether a call is housekeeping of the client instead of a step of the agent's work. Codex
/// compacts its history and its memory with calls that look the same every time.
pub fn is_side_call(headers: &HeaderMap) -> bool {
    let subagent = headers.get(SUBAGENT).map(HeaderValue::as_bytes);
    matches!(subagent, Some(b"compact" | b"memory_consolidation")) && is_codex(headers)
}

/// Any other `x-…-session-id` with a value that looks like an id.
fn any_session_header(headers: &HeaderMap) -> Option<String> {
    let names_session = |name: &str| {
        let inner = name.strip_prefix("x-").and_then(|rest| rest.strip_suffix("-session-id"));
        // A sub-agent does not belong to its parent's session.
        inner.is_some_and(|inner| !inner.is_empty() && inner != "parent")
    };
    let is_id = |value: &str| {
        value.len() >= 8 && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    };
    let candidates = headers.iter().filter(|(name, _)| names_session(name.as_str()));
    let ids = candidates.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok().filter(|id| is_id(id))?)));
    // The smallest name, because the order of headers may vary.
    ids.min().and_then(|(_, id)| printable(id))
}

/// `session.id` in the W3C baggage header.
fn baggage(headers: &HeaderMap) -> Option<String> {
    let lists = headers.get_all("baggage").iter().filter_map(|value| value.to_str().ok());
    let mut members = lists.flat_map(|list| list.split(','));
    members.find_map(|member| {
        let (key, value) = member.split(';').next()?.split_once('=')?;
        if key.trim() == "session.id" { printable(value.trim()) } else { None }
    })
}

/// A hash of the conversation's first message, and of the person who wrote it if that is known:
/// different people begin with the same words.
fn first_message(asked: &Asked<'_>) -> String {
    let person = asked.person.as_deref();
    let prefix = if person.is_some() { BY_PERSON } else { ConversationId::BY_FIRST_WORDS };
    let pieces = || person.into_iter().chain(asked.opening().iter().map(|piece| &**piece));
    let mut text = String::with_capacity(pieces().map(|piece| piece.len() + 1).sum());
    for piece in pieces() {
        text.push_str(piece);
        // A separator, so that "a", "b" differs from "ab".
        text.push('\0');
    }
    // Not formatted by `format!`, which takes five times as long.
    let hash = XxHash3_64::oneshot(text.as_bytes());
    let digits: [u8; 16] = std::array::from_fn(|place| HEX_DIGITS[(hash >> (60 - 4 * place)) as usize & 0xf]);
    // Cannot fail: the digits are ASCII.
    [prefix, std::str::from_utf8(&digits).unwrap_or_default()].concat()
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).and_then(printable)
}

/// The printable characters of an id. `None` if it has none.
fn printable(id: &str) -> Option<String> {
    let kept: String = id.chars().filter(char::is_ascii_graphic).take(MAX_LENGTH).collect();
    (!kept.is_empty()).then_some(kept)
}

fn with_part(mut session: String, part: Option<String>) -> String {
    if let Some(mut part) = part {
        // Both are ASCII. Each gets half of the length, so that a long session does not crowd out
        // the part.
        session.truncate(MAX_LENGTH / 2 - 1);
        part.truncate(MAX_LENGTH / 2);
        session.push('/');
        session.push_str(&part);
    }
    session
}
