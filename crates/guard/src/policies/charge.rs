//! What a call takes of limits, and why they refuse a call.

use model::{BudgetPeriod, ConversationId, NanoUsd, Timestamp};

/// What a call takes: before it is made an upper bound, afterwards the real values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// When it came.
    pub time: Timestamp,
    /// Its provider.
    pub provider: String,
    /// Its conversation, if it has one.
    pub conversation: Option<ConversationId>,
    /// Its cost.
    pub cost: NanoUsd,
    /// Its tokens, in and out.
    pub tokens: u64,
    /// How many tokens it may have taken when it is over.
    pub tokens_at_most: u64,
}

/// Which budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// That of a day, week or month.
    Of(BudgetPeriod),
    /// That of the conversation.
    Conversation,
}

/// Why a call is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is outside the allowed hours.
    OutsideHours,
    /// There were too many calls.
    RateLimited {
        /// Seconds until it passes, if no other call comes first.
        retry_after_seconds: u64,
    },
    /// A budget is spent.
    BudgetExceeded {
        /// Which one.
        budget: Budget,
        /// Its limit.
        limit: NanoUsd,
        /// Seconds until it is renewed; `None` means never.
        renewed_in_seconds: Option<u64>,
    },
    /// The rest of a budget is reserved for calls in flight: whether it suffices is open until they
    /// are settled.
    BudgetHeld {
        /// Seconds until the budget is renewed; `None` means never.
        renewed_in_seconds: Option<u64>,
    },
}

impl Charge {
    /// The tokens that are counted while it is in flight: expected, and at most.
    pub(super) fn counted_tokens(&self) -> (u64, u64) {
        (self.tokens, self.tokens_at_most.max(self.tokens))
    }
}
