//! What agents have spent so far, as budgets count it: in the day, week and month of a time zone, and by conversation.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use model::{AgentId, NanoUsd, Policy, Span, Spending, Timestamp};

use crate::{Spent, Store, StoreError};

/// How long a conversation may be silent before what it cost is forgotten with a restart.
const SILENCE_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// Where one of the sums stands.
type Field = fn(&mut Spending) -> &mut NanoUsd;
type CountsAs = dyn Fn(&str, u64, u64) -> NanoUsd + Send + Sync;

/// What tokens of models without a price count towards budgets.
#[derive(Clone)]
pub struct Unpriced(Arc<CountsAs>);

impl Unpriced {
    /// As much as `counts_as` says of a provider and its tokens in and out.
    pub fn new(counts_as: impl Fn(&str, u64, u64) -> NanoUsd + Send + Sync + 'static) -> Unpriced {
        Unpriced(Arc::new(counts_as))
    }

    fn counted(&self, spent: &Spent) -> NanoUsd {
        match (spent.unpriced_in, spent.unpriced_out) {
            (0, 0) => spent.cost,
            (input, output) => spent.cost + (self.0)(&spent.model.provider, input, output),
        }
    }
}

/// As nothing.
impl Default for Unpriced {
    fn default() -> Self {
        Unpriced::new(|_, _, _| NanoUsd::ZERO)
    }
}

impl fmt::Debug for Unpriced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unpriced")
    }
}

impl Store {
    /// What agents have spent so far, as `policy` counts it. Who has spent nothing is not in it.
    pub async fn spending(&self, policy: &Policy, now: Timestamp) -> Result<HashMap<AgentId, Spending>, StoreError> {
        let mut all: HashMap<AgentId, Spending> = HashMap::new();
        let fields: [(Span, Field); 3] = [
            (Span::Day, |spending| &mut spending.day),
            (Span::Week, |spending| &mut spending.week),
            (Span::Month, |spending| &mut spending.month),
        ];
        for (span, field) in fields {
            for spent in self.spent_since(policy.time_zone.span(span, now).start).await? {
                let counted = self.config.unpriced.counted(&spent);
                *field(all.entry(spent.agent).or_default()) += counted;
            }
        }
        if policy.budget_conversation.is_some() {
            let since = Timestamp::from_millis(now.as_millis().saturating_sub(SILENCE_MS));
            for (agent, conversation, cost) in self.conversations_since(since).await? {
                all.entry(agent).or_default().conversations.push((conversation, cost));
            }
        }
        Ok(all)
    }
}
