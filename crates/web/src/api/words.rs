//! The closed sets of words, for the description of the API. The types themselves are in `model` and `store`, which do not
//! know that there is an API.

use utoipa::openapi::schema::{Array, ArrayBuilder, Object, ObjectBuilder, SchemaType, Type};

fn word(words: &[&'static str]) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words.iter().copied())).build()
}

fn word_or_null(words: &[&'static str]) -> Object {
    let values = words.iter().map(|word| Some(*word)).chain([None]);
    let kinds = SchemaType::from_iter([Type::String, Type::Null]);
    ObjectBuilder::new().schema_type(kinds).enum_values(Some(values)).build()
}

pub(super) fn action() -> Object {
    word(&["deactivate", "block", "observe"])
}

pub(super) fn counting() -> Object {
    word(&["adaptive", "literal"])
}

pub(super) fn window() -> Object {
    word(&["agent", "conversation"])
}

pub(super) fn incident_state() -> Object {
    word(&["open", "closed", "observed"])
}

pub(super) fn feedback() -> Object {
    word(FEEDBACK)
}

pub(super) fn feedback_or_null() -> Object {
    word_or_null(FEEDBACK)
}

pub(super) fn deactivated_by() -> Object {
    word_or_null(&["kill_switch", "manual"])
}

pub(super) fn activated_by() -> Object {
    word_or_null(&["dashboard", "api", "command_line"])
}

pub(super) fn event_type() -> Object {
    word(&["llm_call", "blocked", "kill_switch", "agent_activated", "agent_deactivated"])
}

pub(super) fn block_reason() -> Object {
    word_or_null(BLOCK_REASONS)
}

pub(super) fn block_reason_filter() -> Object {
    word(BLOCK_REASONS)
}

const BLOCK_REASONS: &[&str] = &["inactive", "outside_hours", "rate_limited", "budget_exceeded", "loop_detected"];

pub(super) fn format() -> Object {
    word(&["openai", "anthropic", "gemini", "ollama"])
}

pub(super) fn weekdays() -> Array {
    ArrayBuilder::new().items(word(&["mon", "tue", "wed", "thu", "fri", "sat", "sun"])).build()
}

pub(super) fn matched() -> Array {
    ArrayBuilder::new().items(word(&["prompt", "response", "tool_call", "trigger", "failed"])).build()
}

pub(super) fn signal() -> Object {
    word(&["prompt", "response", "tool_call"])
}

pub(super) fn exempt_kind() -> Object {
    word(&["prompt", "tool_call"])
}

const FEEDBACK: &[&str] = &["loop", "false_alarm"];

pub(super) fn channel_kind() -> Object {
    word(&["webhook", "email", "slack", "discord", "telegram"])
}

pub(super) fn rule_type() -> Object {
    word(&["kill_switch", "agent_down", "error_rate", "budget"])
}

pub(super) fn budget_period() -> Object {
    word(&["day", "week", "month"])
}

pub(super) fn delivery_state() -> Object {
    word(&["queued", "delivered", "failed", "digested"])
}
