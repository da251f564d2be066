//! What a request asks.

use model::Asked;

use crate::json::Malformed;
use crate::{Dialect, history};

/// Why a body could not be read. It is forwarded all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unread(pub &'static str);

impl From<Malformed> for Unread {
    fn from(malformed: Malformed) -> Unread {
        Unread(match malformed {
            Malformed::Invalid => "not valid JSON",
            Malformed::TooDeep => "nested too deeply",
        })
    }
}

/// Reads a request's body.
pub fn read_request(dialect: Dialect, body: &[u8]) -> Result<Asked<'_>, Unread> {
    let text = std::str::from_utf8(body).map_err(|_| Unread("not UTF-8"))?;
    match dialect {
        // Both send a list of `messages`, and what stands in it says by itself which of the two it is: some clients send
        // Anthropic's messages to OpenAI's path.
        Dialect::ChatCompletions | Dialect::Messages => history::read(text),
    }
}
