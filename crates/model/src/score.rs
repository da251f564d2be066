//! The score of a call, and the signals that it is made of.

use serde::{Deserialize, Serialize};

/// How often each signal was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalCounts {
    /// Earlier calls with a similar prompt.
    pub similar_prompts: u32,
    /// Earlier responses similar to the newest one.
    pub similar_responses: u32,
    /// Earlier calls with the same tool calls.
    pub repeated_tool_calls: u32,
}

impl SignalCounts {
    /// What one similar prompt adds to the score.
    pub const PROMPT_WEIGHT: f64 = 1.0;
    /// What one similar response adds to the score.
    pub const RESPONSE_WEIGHT: f64 = 2.0;
    /// What one repeated tool call adds to the score.
    pub const TOOL_CALL_WEIGHT: f64 = 1.5;

    /// The loop score.
    pub fn score(self) -> f64 {
        f64::from(self.similar_prompts) * Self::PROMPT_WEIGHT
            + f64::from(self.similar_responses) * Self::RESPONSE_WEIGHT
            + f64::from(self.repeated_tool_calls) * Self::TOOL_CALL_WEIGHT
    }
}

/// The window that gave a score.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum WindowKind {
    /// The window over all calls of the agent.
    #[default]
    Agent,
    /// The window of a single conversation.
    Conversation,
}

impl WindowKind {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<WindowKind> {
        word.parse().ok()
    }
}

/// How similar a call is to the calls before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// The weighted sum.
    pub value: f64,
    /// The parts of the score.
    pub signals: SignalCounts,
    /// The window it comes from.
    pub window: WindowKind,
}
