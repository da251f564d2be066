//! What the request tells about the answer before it comes.

use http::Method;
use wire::{Dialect, Endpoint};

use crate::request::read::{KeptLink, ReadRequest};

/// What the request tells about its answer.
#[derive(Default)]
pub(crate) struct Expected {
    /// What the answer carries, and in which dialect.
    pub(crate) content: Content,
    /// About how many input tokens the request has.
    pub(crate) asked_tokens: u64,
    /// What later requests will leave out that go on from this one.
    pub(crate) link: Option<KeptLink>,
    /// Whether the proxy asked the stream for its usage in the client's place.
    pub(crate) asks_for_usage: bool,
}

/// What an answer carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Content {
    Conversation(Dialect),
    /// Vectors: only their usage is read.
    Embeddings(Dialect),
    /// Nothing that is read.
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

    /// Takes from `request` what its answer needs.
    pub(crate) fn set_request(&mut self, request: &ReadRequest<'_>) {
        self.asked_tokens = request.tokens;
        self.link = request.link();
    }
}
