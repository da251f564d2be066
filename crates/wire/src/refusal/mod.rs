//! Refusals in the caller's own format.
//!
//! Clients search error messages for words: some that name limits, load or lengths make them retry,
//! compact or ask for a login. The messages here avoid those words, and a test checks it.

mod body;
mod message;
mod status;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use model::{AgentId, BlockReason, CallId, Deactivation, Format, KeyRefusal, NanoUsd};

pub(crate) use body::openai_error;
pub use status::RefusalStatus;

/// A call that is not forwarded.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The call.
    pub call: CallId,
    /// The agent, if its name was valid.
    pub agent: Option<AgentId>,
    /// The reason.
    pub kind: RefusalKind,
}

/// Why a call is not forwarded.
#[derive(Clone, Debug)]
pub enum RefusalKind {
    /// The agent is inactive: the standard inactive response, with `status`.
    Inactive {
        /// When and why it was deactivated.
        deactivation: Deactivation,
        /// The stopped group that it is in; `None` if the agent itself was deactivated.
        group: Option<String>,
        /// The status to answer with.
        status: StatusCode,
    },
    /// It came outside the allowed hours.
    OutsideHours {
        /// The time zone of the hours.
        time_zone: String,
        /// The group whose hours they are; `None` if they are the agent's own.
        group: Option<String>,
        /// The status to answer with.
        status: StatusCode,
    },
    /// A budget is spent.
    BudgetExceeded {
        /// Which one: `daily`, `weekly`, `monthly` or `conversation`.
        budget: &'static str,
        /// The group whose budget it is; `None` if it is the agent's own.
        group: Option<String>,
        /// The amount of the budget.
        limit: NanoUsd,
        /// When the budget is renewed; `None` means never.
        retry_after_seconds: Option<u64>,
        /// The status to answer with.
        status: StatusCode,
    },
    /// The rest of a budget is reserved for calls in flight.
    BudgetHeld {
        /// When to try again.
        retry_after_seconds: u64,
    },
    /// The agent called too often.
    RateLimited {
        /// The group whose rate it is; `None` if it is the agent's own.
        group: Option<String>,
        /// When to try again.
        retry_after_seconds: u64,
    },
    /// It looped and the action is `block`.
    LoopDetected {
        /// When to try again.
        retry_after_seconds: u64,
    },
    /// Its agent key is missing or wrong.
    Unauthorized {
        /// What is wrong with it.
        why: KeyRefusal,
        /// The agent or the pattern that the key is for, if the key is known; for a token, the
        /// reason of its refusal.
        agents: Option<String>,
    },
    /// The request cannot be forwarded (bad agent name, unknown provider, too large, …) or the
    /// provider did not answer. This is not a block and has no `block_reason`.
    Error {
        /// Who is at fault.
        fault: Fault,
        /// The status to answer with.
        status: StatusCode,
        /// What is wrong and what to do about it.
        message: String,
    },
}

/// Who is at fault for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The client: the same request would fail again.
    Client,
    /// The provider, which may be available again soon.
    Provider,
    /// The proxy: a person has to repair something first.
    Proxy,
}

/// The answer to a refused call, in the error shape of `format`, with the headers of every refusal.
pub fn refuse(format: Format, refusal: &Refusal) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(body::write(format, refusal)));
    *response.status_mut() = refusal.kind.status();
    *response.headers_mut() = headers(format, refusal);
    response
}

impl RefusalKind {
    /// The group that the call is refused for; `None` if it is its agent.
    fn group(&self) -> Option<&str> {
        match self {
            RefusalKind::Inactive { group, .. }
            | RefusalKind::OutsideHours { group, .. }
            | RefusalKind::BudgetExceeded { group, .. }
            | RefusalKind::RateLimited { group, .. } => group.as_deref(),
            _ => None,
        }
    }

    /// The status that the client gets.
    pub fn status(&self) -> StatusCode {
        match self {
            RefusalKind::Inactive { status, .. }
            | RefusalKind::OutsideHours { status, .. }
            | RefusalKind::BudgetExceeded { status, .. }
            | RefusalKind::Error { status, .. } => *status,
            RefusalKind::BudgetHeld { .. } | RefusalKind::RateLimited { .. } | RefusalKind::LoopDetected { .. } => {
                StatusCode::TOO_MANY_REQUESTS
            }
            RefusalKind::Unauthorized { .. } => StatusCode::UNAUTHORIZED,
        }
    }
}

impl Refusal {
    fn block_reason(&self) -> Option<BlockReason> {
        match &self.kind {
            RefusalKind::Inactive { .. } => Some(BlockReason::Inactive),
            RefusalKind::OutsideHours { .. } => Some(BlockReason::OutsideHours),
            RefusalKind::BudgetExceeded { .. } => Some(BlockReason::BudgetExceeded),
            RefusalKind::BudgetHeld { .. } | RefusalKind::RateLimited { .. } => Some(BlockReason::RateLimited),
            RefusalKind::LoopDetected { .. } => Some(BlockReason::LoopDetected),
            RefusalKind::Unauthorized { .. } => Some(BlockReason::Unauthorized),
            RefusalKind::Error { .. } => None,
        }
    }

    /// The error code for programs.
    fn code(&self) -> &'static str {
        match &self.kind {
            RefusalKind::Inactive { .. } => "agent_deactivated",
            RefusalKind::OutsideHours { .. } => "outside_hours",
            RefusalKind::BudgetExceeded { .. } => "budget_exceeded",
            RefusalKind::BudgetHeld { .. } | RefusalKind::RateLimited { .. } => "rate_limited",
            RefusalKind::LoopDetected { .. } => "loop_detected",
            RefusalKind::Unauthorized { .. } => "unauthorized",
            RefusalKind::Error { fault: Fault::Client, .. } => "request_refused",
            RefusalKind::Error { fault: Fault::Provider, .. } => "provider_failed",
            RefusalKind::Error { fault: Fault::Proxy, .. } => "proxy_failed",
        }
    }
}

/// The headers of a refusal, some of which depend on the format.
fn headers(format: Format, refusal: &Refusal) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let call = refusal.call.to_string();
    put(&mut headers, "x-agentgazer-request-id", &call);
    // The header from which the SDKs of these formats take the id in their errors.
    match format {
        Format::Openai => put(&mut headers, "x-request-id", &call),
        Format::Anthropic => put(&mut headers, "request-id", &call),
        Format::Gemini | Format::Ollama => {}
    }
    if let Some(reason) = refusal.block_reason() {
        put(&mut headers, "x-agentgazer-blocked", reason.as_str());
    }
    match &refusal.kind {
        RefusalKind::Inactive { deactivation, .. } => {
            put(&mut headers, "x-should-retry", "false");
            if let Some(incident) = deactivation.incident {
                put(&mut headers, "x-agentgazer-incident", &incident.to_string());
            }
        }
        // No `Retry-After`: a client that waits for hours looks as if it hung.
        RefusalKind::OutsideHours { .. } | RefusalKind::BudgetExceeded { .. } | RefusalKind::Unauthorized { .. } => {
            put(&mut headers, "x-should-retry", "false");
        }
        RefusalKind::BudgetHeld { retry_after_seconds }
        | RefusalKind::RateLimited { retry_after_seconds, .. }
        | RefusalKind::LoopDetected { retry_after_seconds } => {
            headers.insert(RETRY_AFTER, HeaderValue::from(*retry_after_seconds));
        }
        RefusalKind::Error { fault: Fault::Provider, .. } => {}
        RefusalKind::Error { fault: Fault::Client | Fault::Proxy, .. } => {
            put(&mut headers, "x-should-retry", "false");
        }
    }
    headers
}

fn put(headers: &mut HeaderMap, name: &'static str, value: &str) {
    // Always valid: ids, and words from closed sets.
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(HeaderName::from_static(name), value);
    }
}
