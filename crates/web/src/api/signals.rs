//! What a score is made of.

use model::SignalCounts;
use serde::Serialize;
use utoipa::ToSchema;

/// One signal: how many calls matched, the weight of each, and the product.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) struct Signal {
    pub(crate) count: u32,
    pub(crate) weight: f64,
    pub(crate) score: f64,
}

/// The three signals of a score.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) struct Signals {
    /// Earlier calls with a similar prompt.
    pub(crate) similar_prompts: Signal,
    /// Earlier responses similar to the newest one.
    pub(crate) similar_responses: Signal,
    /// Earlier calls with the same tool calls.
    pub(crate) repeated_tool_calls: Signal,
}

impl From<SignalCounts> for Signals {
    fn from(counts: SignalCounts) -> Signals {
        let signal = |count: u32, weight: f64| Signal { count, weight, score: f64::from(count) * weight };
        Signals {
            similar_prompts: signal(counts.similar_prompts, SignalCounts::PROMPT_WEIGHT),
            similar_responses: signal(counts.similar_responses, SignalCounts::RESPONSE_WEIGHT),
            repeated_tool_calls: signal(counts.repeated_tool_calls, SignalCounts::TOOL_CALL_WEIGHT),
        }
    }
}
