//! Exemptions: what does not count for one agent, the narrowest remedy for a false alarm.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Counting, Fingerprint, TextHash, Timestamp};

/// The id of an exemption. Sorts by creation time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExemptionId(pub Uuid);

impl ExemptionId {
    /// A new id.
    #[allow(clippy::new_without_default, reason = "there is no usual id")]
    pub fn new() -> ExemptionId {
        ExemptionId(Uuid::now_v7())
    }

    /// Parses an id.
    pub fn parse(text: &str) -> Option<ExemptionId> {
        Uuid::try_parse(text).ok().map(ExemptionId)
    }
}

impl fmt::Display for ExemptionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// The kind of an exemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ExemptKind {
    /// One prompt.
    Prompt,
    /// The tool calls of one step.
    ToolCall,
}

impl ExemptKind {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<ExemptKind> {
        word.parse().ok()
    }
}

/// What is exempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exempt {
    /// Calls with exactly this prompt (apart from numbers, times and ids), and the answers to it;
    /// not the tool calls made while working on it.
    Prompt(TextHash),
    /// Calls that report exactly these tool calls, and the answers to them.
    ToolCall {
        /// Their signature under `counting = "literal"`.
        literal: u64,
        /// Their signature under `counting = "adaptive"`.
        adaptive: u64,
    },
}

impl Exempt {
    /// The prompt of a call, or the tool calls it reports; `None` if it has none.
    pub fn of(call: &Fingerprint, kind: ExemptKind) -> Option<Exempt> {
        match kind {
            ExemptKind::Prompt => call.prompt.map(Exempt::Prompt),
            ExemptKind::ToolCall => {
                call.tools.map(|step| Exempt::ToolCall { literal: step.literal, adaptive: step.adaptive })
            }
        }
    }

    /// Its kind.
    pub fn kind(self) -> ExemptKind {
        match self {
            Exempt::Prompt(_) => ExemptKind::Prompt,
            Exempt::ToolCall { .. } => ExemptKind::ToolCall,
        }
    }

    /// Whether `call` has this prompt, or reports these tool calls.
    pub fn covers(self, call: &Fingerprint, counting: Counting) -> bool {
        match (self, call.tools) {
            (Exempt::Prompt(hash), _) => call.prompt == Some(hash),
            (Exempt::ToolCall { .. }, None) => false,
            (Exempt::ToolCall { literal, adaptive }, Some(step)) => match counting {
                Counting::Literal => step.literal == literal && !step.is_written,
                Counting::Adaptive => step.adaptive == adaptive,
            },
        }
    }
}

/// An exemption of one agent, until a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exemption {
    /// Its id.
    pub id: ExemptionId,
    /// What is exempt.
    pub exempt: Exempt,
    /// When it ends.
    pub until: Timestamp,
}

impl Exemption {
    /// The most exemptions of one agent: every call checks them all.
    pub const MOST: usize = 20;
}
