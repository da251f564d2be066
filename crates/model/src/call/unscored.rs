//! Why a call was not scored.

use std::fmt;

/// Why a request could not be read. It is still forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum Unread {
    /// Its `content-encoding` is not supported.
    #[error("compressed in a way that is not known")]
    UnknownEncoding,
    /// It does not match its `content-encoding`.
    #[error("cannot be decoded")]
    Undecodable,
    /// It exceeds the limit once decompressed.
    #[error("too large to be read")]
    TooLarge,
    /// It is neither UTF-8 nor UTF-16.
    #[error("not UTF-8")]
    NotUtf8,
    /// It is not JSON.
    #[error("not valid JSON")]
    InvalidJson,
    /// Its objects and arrays nest too deeply.
    #[error("nested too deeply")]
    TooDeep,
    /// It is JSON, but not an object.
    #[error("not an object")]
    NotAnObject,
    /// It went to a conversation endpoint and holds no conversation.
    #[error("no messages")]
    NoMessages,
}

/// Why a call was not scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unscored {
    /// It carries no conversation: models, embeddings, files, token counting.
    NoConversation,
    /// Housekeeping of the client, such as Codex shortening its history.
    Housekeeping,
    /// OpenAI's threads: the provider keeps the conversation, and the calls that run it do not
    /// carry it.
    Threads,
    /// A batch: many conversations in one request, answered later.
    Batch,
    /// It could not be read.
    Unread(Unread),
    /// Detection failed.
    DetectionFailed,
}

impl Unscored {
    /// All reasons.
    pub const ALL: [Unscored; 13] = [
        Unscored::NoConversation,
        Unscored::Housekeeping,
        Unscored::Threads,
        Unscored::Batch,
        Unscored::Unread(Unread::UnknownEncoding),
        Unscored::Unread(Unread::Undecodable),
        Unscored::Unread(Unread::TooLarge),
        Unscored::Unread(Unread::NotUtf8),
        Unscored::Unread(Unread::InvalidJson),
        Unscored::Unread(Unread::TooDeep),
        Unscored::Unread(Unread::NotAnObject),
        Unscored::Unread(Unread::NoMessages),
        Unscored::DetectionFailed,
    ];

    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            Unscored::NoConversation => "no_conversation",
            Unscored::Housekeeping => "housekeeping",
            Unscored::Threads => "threads",
            Unscored::Batch => "batch",
            Unscored::Unread(Unread::UnknownEncoding) => "unknown_encoding",
            Unscored::Unread(Unread::Undecodable) => "undecodable",
            Unscored::Unread(Unread::TooLarge) => "too_large",
            Unscored::Unread(Unread::NotUtf8) => "not_utf8",
            Unscored::Unread(Unread::InvalidJson) => "invalid_json",
            Unscored::Unread(Unread::TooDeep) => "too_deep",
            Unscored::Unread(Unread::NotAnObject) => "not_an_object",
            Unscored::Unread(Unread::NoMessages) => "no_messages",
            Unscored::DetectionFailed => "detection_failed",
        }
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<Unscored> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }

    /// Whether it may hide a loop: the call may carry a conversation that was not examined.
    pub fn may_hide_a_loop(self) -> bool {
        !matches!(self, Unscored::NoConversation | Unscored::Housekeeping)
    }
}

impl fmt::Display for Unscored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_word_of_its_own() {
        for reason in Unscored::ALL {
            assert_eq!(Unscored::parse(reason.as_str()), Some(reason));
        }
        assert_eq!(Unscored::parse("another"), None);
    }
}
