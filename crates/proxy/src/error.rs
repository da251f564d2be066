//! Why a call ends without its provider's answer. It knows whose doing that is (ours on purpose, the client's, the
//! provider's, our own fault), and one function maps it to an answer.

use http::header::{ALLOW, CONNECTION, HeaderValue, UPGRADE};
use http::{Response, StatusCode};
use model::{AgentId, BlockReason, CallId, Deactivation, Format};
use wire::{Fault, Refusal, RefusalKind};

use crate::body::Body;
use crate::headers;

/// Why a call ends without its provider's answer.
#[derive(Debug)]
pub(crate) enum Stop {
    /// We refuse it: the agent is inactive.
    Inactive(Deactivation, StatusCode),
    /// We refuse it: the agent's policy does not allow it.
    Policy(BlockReason, Box<RefusalKind>),
    /// We refuse it: it looped and the action is `block`.
    LoopDetected,
    /// The client sent something that cannot be forwarded.
    Client(StatusCode, String),
    /// The provider did not answer, or cannot be asked.
    Upstream(StatusCode, String),
    /// We cannot do what we should before a person mends something.
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

    /// What went wrong, if this is no refusal.
    pub(crate) fn error(&self) -> Option<&str> {
        match self {
            Stop::Inactive(..) | Stop::Policy(..) | Stop::LoopDetected => None,
            Stop::Client(_, message) | Stop::Upstream(_, message) | Stop::Us(_, message) => Some(message),
        }
    }

    /// The answer, in the caller's format.
    pub(crate) fn answer(self, format: Format, call: CallId, agent: Option<&AgentId>) -> Response<Body> {
        let status = self.status();
        let kind = match self {
            Stop::Inactive(deactivation, status) => RefusalKind::Inactive { deactivation, status },
            Stop::Policy(_, kind) => *kind,
            // Refused calls count, too: it takes a rest to end a loop.
            Stop::LoopDetected => RefusalKind::LoopDetected { retry_after_seconds: guard::REST.as_secs() },
            Stop::Client(status, message) => RefusalKind::Error { fault: Fault::Client, status, message },
            Stop::Upstream(status, message) => RefusalKind::Error { fault: Fault::Provider, status, message },
            Stop::Us(status, message) => RefusalKind::Error { fault: Fault::Proxy, status, message },
        };
        let mut response = wire::refuse(format, &Refusal { call, agent: agent.cloned(), kind }).map(Body::from);
        if status == StatusCode::UPGRADE_REQUIRED {
            // What to use instead, as the status requires.
            response.headers_mut().insert(UPGRADE, HeaderValue::from_static("HTTP/1.1"));
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
        }
        if status == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(ALLOW, headers::METHODS);
        }
        if status == StatusCode::PAYLOAD_TOO_LARGE {
            // What is left of the body is not worth reading for the sake of the connection.
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
