//! What a request asks.

use model::Asked;

use crate::Dialect;

/// Why a body could not be read. It is forwarded all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unread(pub &'static str);

/// Reads a request's body.
pub fn read_request(dialect: Dialect, body: &[u8]) -> Result<Asked<'_>, Unread> {
    let _ = (dialect, body);
    todo!()
}
