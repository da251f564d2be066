//! Schemas of the enumerations of `model` and `store`, which do not depend on the API's
//! description.

use utoipa::openapi::schema::{Array, ArrayBuilder, Object, ObjectBuilder, SchemaType, Type};

fn word(words: &[&'static str]) -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words.iter().copied())).build()
}

fn word_or_null(words: &[&'static str]) -> Object {
    let values = words.iter().map(|word| Some(*word)).chain([None]);
    let kinds = SchemaType::from_iter([Type::String, Type::Null]);
    ObjectBuilder::new().schema_type(kinds).enum_values(Some(values)).build()
}

pub(in crate::api) fn action() -> Object {
    word(&["deactivate", "block", "observe"])
}

pub(in crate::api) fn counting() -> Object {
    word(&["adaptive", "literal"])
}

pub(in crate::api) fn window() -> Object {
    word(&["agent", "conversation"])
}

pub(in crate::api) fn incident_state() -> Object {
    word(&["open", "closed", "observed"])
}

pub(in crate::api) fn role() -> Object {
    word(&["viewer", "operator", "admin"])
}

pub(in crate::api) fn role_or_null() -> Object {
    word_or_null(&["viewer", "operator", "admin"])
}

pub(in crate::api) fn actor_kind() -> Object {
    word(&["user", "token", "first_token", "command_line", "anonymous"])
}

pub(in crate::api) fn way() -> Object {
    word(&["dashboard", "api", "command_line"])
}

pub(in crate::api) fn feedback() -> Object {
    word(FEEDBACK)
}

pub(in crate::api) fn feedback_or_null() -> Object {
    word_or_null(FEEDBACK)
}

pub(in crate::api) fn deactivated_by() -> Object {
    word_or_null(&["kill_switch", "manual"])
}

pub(in crate::api) fn activated_by() -> Object {
    word_or_null(&["dashboard", "api", "command_line"])
}

pub(in crate::api) fn event_type() -> Object {
    word(&["llm_call", "blocked", "kill_switch", "agent_activated", "agent_deactivated"])
}

pub(in crate::api) fn block_reason() -> Object {
    word_or_null(BLOCK_REASONS)
}

pub(in crate::api) fn block_reason_filter() -> Object {
    word(BLOCK_REASONS)
}

const BLOCK_REASONS: &[&str] = &["inactive", "outside_hours", "rate_limited", "budget_exceeded", "loop_detected"];

pub(in crate::api) fn format() -> Object {
    word(&["openai", "anthropic", "gemini", "ollama"])
}

pub(in crate::api) fn smtp_security() -> Object {
    word(&["starttls", "tls", "none"])
}

pub(in crate::api) fn weekdays() -> Array {
    ArrayBuilder::new().items(word(&["mon", "tue", "wed", "thu", "fri", "sat", "sun"])).build()
}

pub(in crate::api) fn labels() -> Array {
    let pattern = "^[A-Za-z0-9][A-Za-z0-9._:=/-]{0,63}$";
    let label = ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).build();
    ArrayBuilder::new().items(label).max_items(Some(model::Label::MOST)).build()
}

pub(in crate::api) fn matched() -> Array {
    ArrayBuilder::new().items(word(&["prompt", "response", "tool_call", "trigger", "failed"])).build()
}

pub(in crate::api) fn signal() -> Object {
    word(&["prompt", "response", "tool_call"])
}

pub(in crate::api) fn exempt_kind() -> Object {
    word(&["prompt", "tool_call"])
}

const FEEDBACK: &[&str] = &["loop", "false_alarm"];

pub(in crate::api) fn channel_kind() -> Object {
    word(&["webhook", "email", "slack", "discord", "telegram"])
}

pub(in crate::api) fn rule_type() -> Object {
    word(&["kill_switch", "agent_down", "error_rate", "budget"])
}

pub(in crate::api) fn budget_period() -> Object {
    word(&["day", "week", "month"])
}

pub(in crate::api) fn delivery_state() -> Object {
    word(&["queued", "delivered", "failed", "digested"])
}
