//! The bodies of refusals: the error in the shape that each format's SDKs read, and our own fields
//! beside it.

use http::StatusCode;
use model::Format;
use serde_json::{Map, Value, json};

use super::{Refusal, RefusalKind};

/// The body of a refusal.
pub(super) fn write(format: Format, refusal: &Refusal) -> String {
    let mut body = error_body(format, refusal);
    body.extend(own_fields(refusal));
    Value::Object(body).to_string()
}

/// The error as the format's SDKs read it.
fn error_body(format: Format, refusal: &Refusal) -> Map<String, Value> {
    let (message, code, status) = (refusal.message(), refusal.code(), refusal.kind.status());
    let body = match format {
        Format::Openai => json!({ "error": openai_error(&message, openai_type(status), code) }),
        Format::Anthropic => {
            let error = json!({ "type": anthropic_type(status), "message": message });
            json!({ "type": "error", "error": error, "request_id": refusal.call.to_string() })
        }
        Format::Gemini => json!({ "error": {
            "code": status.as_u16(),
            "message": message,
            "status": gemini_status(refusal),
            "details": [{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": code.to_ascii_uppercase(),
                "domain": "agentgazer",
            }],
        } }),
        Format::Ollama => json!({ "error": message }),
    };
    match body {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The fields beside the format's own keys.
fn own_fields(refusal: &Refusal) -> Map<String, Value> {
    let mut fields = Map::new();
    if let Some(reason) = refusal.block_reason() {
        fields.insert("block_reason".into(), reason.as_str().into());
    }
    if let Some(agent) = &refusal.agent {
        fields.insert("agent_id".into(), agent.as_str().into());
    }
    if let Some(group) = refusal.kind.group() {
        fields.insert("group".into(), group.into());
    }
    match &refusal.kind {
        RefusalKind::Inactive { deactivation, .. } => {
            fields.insert("deactivated_by".into(), deactivation.by.as_str().into());
            fields.insert("deactivated_at".into(), deactivation.at.to_string().into());
            if let Some(incident) = deactivation.incident {
                fields.insert("incident_id".into(), incident.to_string().into());
            }
        }
        RefusalKind::BudgetExceeded { limit, retry_after_seconds, .. } => {
            fields.insert("budget_usd".into(), limit.usd().into());
            fields.extend(retry_after_seconds.map(|seconds| ("retry_after_seconds".into(), seconds.into())));
        }
        RefusalKind::BudgetHeld { retry_after_seconds }
        | RefusalKind::RateLimited { retry_after_seconds, .. }
        | RefusalKind::LoopDetected { retry_after_seconds } => {
            fields.insert("retry_after_seconds".into(), (*retry_after_seconds).into());
        }
        RefusalKind::OutsideHours { .. } | RefusalKind::Unauthorized { .. } | RefusalKind::Error { .. } => {}
    }
    fields
}

/// The error object of OpenAI.
pub(crate) fn openai_error(message: &str, kind: &str, code: &str) -> Value {
    json!({ "message": message, "type": kind, "param": null, "code": code })
}

fn openai_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

fn anthropic_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn gemini_status(refusal: &Refusal) -> &'static str {
    match refusal.kind.status().as_u16() {
        400 if refusal.block_reason().is_some() => "FAILED_PRECONDITION",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        502 | 503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}
