//! The bodies of a call in the windows, as they are written to disk so that a restart does not lose
//! them.

use crate::{CallId, Timestamp};

/// The bodies of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCall {
    /// The call.
    pub call: CallId,
    /// When it came.
    pub time: Timestamp,
    /// The dialect of its bodies.
    pub dialect: String,
    /// The request body.
    pub request: KeptBody,
    /// The response, if there is one.
    pub response: Option<KeptResponse>,
}

/// One body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBody {
    /// The bytes as received, or compressed with zstd.
    pub bytes: Vec<u8>,
    /// The length before compression, if it is compressed.
    pub unpacked_length: Option<usize>,
}

/// The response of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptResponse {
    /// The body.
    pub body: KeptBody,
    /// Distinguishes a stream from a plain body.
    pub content_type: Option<String>,
    /// Whether it was cut.
    pub cut: bool,
}

impl KeptCall {
    /// How many bytes its bodies take.
    pub fn stored(&self) -> usize {
        self.request.bytes.len() + self.response.as_ref().map_or(0, |response| response.body.bytes.len())
    }
}

/// The difference between memory and the copy on disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptCalls {
    /// New calls, and calls that were answered since.
    pub changed: Vec<KeptCall>,
    /// Calls that are no longer needed.
    pub gone: Vec<CallId>,
}

impl KeptCalls {
    /// Whether there is no difference.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty()
    }
}
