//! Refusals in the caller's own format, and the error event that ends a stream whose provider died.

use bytes::Bytes;
use http::{Response, StatusCode};
use model::{AgentId, CallId, Deactivation, Format};

use crate::Dialect;

/// A call that is not forwarded.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The call.
    pub call: CallId,
    /// The agent, if its name was valid.
    pub agent: Option<AgentId>,
    /// Why.
    pub kind: RefusalKind,
}

/// Why a call is not forwarded.
#[derive(Clone, Debug)]
pub enum RefusalKind {
    /// The agent is inactive: the standard inactive response, with `status` (400 unless configured otherwise).
    Inactive {
        /// Since when and why.
        deactivation: Deactivation,
        /// The status to answer with.
        status: StatusCode,
    },
    /// It looped and the action is `block`.
    LoopDetected {
        /// When to try again.
        retry_after_seconds: u64,
    },
    /// The request cannot be forwarded as it is (bad agent name, unknown provider, too large, …) or the provider did not
    /// answer. Not a block: no `block_reason`.
    Error {
        /// The status to answer with.
        status: StatusCode,
        /// What is wrong and what to do about it.
        message: String,
    },
}

/// The answer to a refused call, in the error shape of `format`, with the headers of every refusal.
pub fn refuse(format: Format, refusal: &Refusal) -> Response<Bytes> {
    let _ = (format, refusal);
    todo!()
}

/// The bytes that end a stream in `dialect` whose provider died: the format's own error event.
/// `clean` says whether the bytes before ended with a whole event (else the broken one is closed first).
pub fn stream_error(dialect: Dialect, message: &str, clean: bool) -> Bytes {
    let _ = (dialect, message, clean);
    todo!()
}
