//! Reasons why a call ends without its provider's answer. A [`Stop`] knows whose fault it is (our
//! decision, the client, the provider, ourselves), and one function maps it to an answer.

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, HeaderValue, UPGRADE};
use http::{Response, StatusCode};
use model::{AgentId, BlockReason, CallId, Deactivation, Format};
use wire::{Fault, Refusal, RefusalKind};

use crate::headers;

/// Why a call ends without its provider's answer.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Refused: the agent is inactive.
    Inactive(Deactivation, StatusCode),
    /// Refused: the agent's policy does not allow it.
    Policy(BlockReason, Box<RefusalKind>),
    /// Refused: it looped and the action is `block`.
    LoopDetected,
    /// The client sent something that cannot be forwarded.
    Client(StatusCode, String),
    /// The provider did not answer, or cannot be called.
    Upstream(StatusCode, String),
    /// It cannot be forwarded until a person repairs something.
    Us(StatusCode, String),
}

impl Stop {
    /// The status the client gets.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Stop::Inactive(_, status) | Stop::Client(status, _) | Stop::Upstream(status, _) | Stop::Us(status, _) => {
                *status
            }
            Stop::Policy(_, kind) => kind.status(),
            Stop::LoopDetected => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// The error message, unless this is a refusal.
    pub(crate) fn error(&self) -> Option<&str> {
        match self {
            Stop::Inactive(..) | Stop::Policy(..) | Stop::LoopDetected => None,
            Stop::Client(_, message) | Stop::Upstream(_, message) | Stop::Us(_, message) => Some(message),
        }
    }

    /// The answer, in the caller's format.
    pub(crate) fn answer(self, format: Format, call: CallId, agent: Option<&AgentId>) -> Response<Bytes> {
        let status = self.status();
        let kind = match self {
            Stop::Inactive(deactivation, status) => RefusalKind::Inactive { deactivation, group: None, status },
            Stop::Policy(_, kind) => *kind,
            // Refused calls count too: only a pause ends a loop.
            Stop::LoopDetected => RefusalKind::LoopDetected { retry_after_seconds: guard::REST.as_secs() },
            Stop::Client(status, message) => RefusalKind::Error { fault: Fault::Client, status, message },
            Stop::Upstream(status, message) => RefusalKind::Error { fault: Fault::Provider, status, message },
            Stop::Us(status, message) => RefusalKind::Error { fault: Fault::Proxy, status, message },
        };
        let mut response = wire::refuse(format, &Refusal { call, agent: agent.cloned(), kind });
        if status == StatusCode::UPGRADE_REQUIRED {
            // This status must name a protocol to use instead.
            response.headers_mut().insert(UPGRADE, HeaderValue::from_static("HTTP/1.1"));
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
        }
        if status == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(ALLOW, headers::METHODS);
        }
        if status == StatusCode::PAYLOAD_TOO_LARGE {
            // Reading the rest of the body would cost more than a new connection.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
