//! What the request reveals about its answer.

use http::Method;
use wire::{Dialect, Endpoint, KeptLink, RunId};

use crate::request::read::ReadRequest;

/// What the request reveals about its answer.
#[derive(Default)]
pub(crate) struct Expected {
    /// The kind of answer, and its dialect.
    pub(crate) content: Content,
    /// The approximate number of input tokens of the request.
    pub(crate) asked_tokens: u64,
    /// What later requests that continue this one will leave out. Boxed, because few calls have it.
    pub(crate) link: Option<Box<KeptLink>>,
    /// The run that is told of the answer.
    pub(crate) run: Option<RunId>,
    /// Whether the proxy asked for the usage of the stream on behalf of the client.
    pub(crate) asks_for_usage: bool,
}

/// The kind of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Content {
    Conversation(Dialect),
    /// Embeddings: only their usage is read.
    Embeddings(Dialect),
    /// Not read.
    #[default]
    Other,
}

impl Content {
    /// The dialect, if the answer is read.
    pub(crate) fn dialect(self) -> Option<Dialect> {
        match self {
            Content::Conversation(dialect) | Content::Embeddings(dialect) => Some(dialect),
            Content::Other => None,
        }
    }
}

impl Expected {
    /// The answer to a conversation in `dialect`.
    pub(crate) fn of_conversation(dialect: Dialect) -> Expected {
        Expected { content: Content::Conversation(dialect), ..Expected::default() }
    }

    /// The answer to a request that carries no conversation.
    pub(crate) fn without_conversation(method: &Method, path: &str) -> Expected {
        let content = Endpoint::embeds(method, path).map_or(Content::Other, Content::Embeddings);
        Expected { content, ..Expected::default() }
    }

    /// The input tokens that the request costs even if no answer arrives. Embeddings cost what
    /// their answer says.
    pub(crate) fn charged_tokens(&self) -> Option<u64> {
        matches!(self.content, Content::Conversation(_)).then_some(self.asked_tokens)
    }

    /// Copies from `request` what reading its answer needs.
    pub(crate) fn set_request(&mut self, request: &ReadRequest<'_>) {
        self.asked_tokens = request.tokens;
        self.link = request.link();
        self.run = request.run;
    }
}
