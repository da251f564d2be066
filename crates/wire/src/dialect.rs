//! The endpoints that carry a conversation.

use http::Method;
use model::Format;

/// One shape of requests, responses and streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenAI Chat Completions.
    ChatCompletions,
    /// Anthropic Messages.
    Messages,
}

impl Dialect {
    /// The dialect of a request to `path` (below the provider's base URL, without query), if it carries a conversation.
    pub fn of(format: Format, method: &Method, path: &str) -> Option<Dialect> {
        let _ = (format, method, path);
        todo!()
    }
}
