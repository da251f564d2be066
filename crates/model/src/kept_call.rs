//! The bodies of a call in the windows as they are written beside the database, so that a restart
//! does not lose them.

use crate::{CallId, Timestamp};

/// The bodies of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCall {
    /// The call.
    pub call: CallId,
    /// When it came.
    pub time: Timestamp,
    /// The name of the dialect that its bodies are written in.
    pub dialect: String,
    /// What was asked.
    pub request: KeptBody,
    /// What was answered, so far as there was an answer.
    pub response: Option<KeptResponse>,
}

/// One body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBody {
    /// As it came, or compressed with zstd.
    pub bytes: Vec<u8>,
    /// Its length as it came, if it is compressed.
    pub unpacked_length: Option<usize>,
}

/// The answer to one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptResponse {
    /// What was answered.
    pub body: KeptBody,
    /// Tells a stream from a body.
    pub content_type: Option<String>,
    /// Whether it is only the beginning.
    pub cut: bool,
}

impl KeptCall {
    /// How many bytes its bodies take.
    pub fn stored(&self) -> usize {
        self.request.bytes.len() + self.response.as_ref().map_or(0, |response| response.body.bytes.len())
    }
}

/// How the copy on disk differs from what is in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptCalls {
    /// New calls, and those that were answered since.
    pub changed: Vec<KeptCall>,
    /// Calls that are no longer needed.
    pub gone: Vec<CallId>,
}

impl KeptCalls {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty()
    }
}
