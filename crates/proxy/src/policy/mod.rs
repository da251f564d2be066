//! What an agent's policy has to say to a call: whether it may be made, what is reserved for it until it is over, and which
//! model it gets. An agent that nothing limits passes here without a lock.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use guard::{Budget, Charge, Refused, conversation_id};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use model::{AgentId, BlockReason, BudgetPeriod, NanoUsd, Usage};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use wire::RefusalKind;

use crate::decoding::{Encoding, readable};
use crate::error::Stop;
use crate::exchange::Exchange;
use crate::recorded;

/// As many output tokens are reserved for a call that sets no limit itself.
const MOST_OUTPUT: u64 = 16_384;
/// What is known of a text is about how many tokens it has; what is reserved has to be more than it can have.
const INPUT_MARGIN: u64 = 2;
/// How long a call waits for others that have reserved the rest of a budget. When to try again after that nobody knows: what
/// took so long is as likely as not to take as long again.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it looks whether the budget was changed meanwhile.
const LOOK: Duration = Duration::from_secs(1);

/// Tells calls that wait for a budget that another call of their agent has been settled. Agents share one of so many bells,
/// so that one with many calls that wait does not wake them with every call of all others.
pub(crate) struct Settled(Box<[Notify]>);

const BELLS: usize = 64;

impl Settled {
    fn of(&self, agent: &AgentId) -> &Notify {
        let mut hasher = DefaultHasher::new();
        agent.hash(&mut hasher);
        &self.0[hasher.finish() as usize % BELLS]
    }
}

impl Default for Settled {
    fn default() -> Self {
        Settled((0..BELLS).map(|_| Notify::new()).collect())
    }
}

/// What a policy asks of a call.
#[derive(Default)]
struct Facts {
    model: Option<String>,
    conversation: Option<String>,
    /// What it uses at most.
    most: Usage,
    /// About how many tokens it sends.
    tokens: u64,
}

impl Exchange {
    /// Hours and calls per minute, before the body is read: a call that they refuse must cost us little.
    pub(crate) fn check_policy(&mut self, provider: &str) -> Result<(), Stop> {
        let now = self.event.time;
        self.limits = self.core.guard.policies().of(&self.event.agent, now);
        let Some(limits) = &self.limits else { return Ok(()) };
        limits.precheck(provider, now).map_err(|refused| self.refused(refused))
    }

    /// Lets the policy decide on a call, and reserves what it may take. `body` is that of a conversation; what other calls
    /// cost is not known, but an agent that has spent its budget makes none of them either.
    pub(crate) async fn reserve(&mut self, headers: &HeaderMap, body: Option<&Bytes>) -> Result<(), Stop> {
        let Some(limits) = self.limits.clone().filter(|limits| !limits.policy().is_empty()) else { return Ok(()) };
        let facts = match body {
            None => Facts::default(),
            Some(body) => {
                let reading = || self.facts(headers, body);
                self.core.aside.run(Encoding::length(headers, body), reading).await
            }
        };
        let provider = self.event.provider.clone().unwrap_or_default();
        if body.is_some() {
            let policy = limits.policy();
            self.model_to_use = policy.model_for(&provider, facts.model.as_deref()).map(str::to_owned);
        }
        let model = self.model_to_use.as_ref().or(facts.model.as_ref());
        let cost = self.core.config.prices.counted(&provider, model.map_or("", String::as_str), &facts.most);
        let conversation = facts.conversation.as_deref().map(conversation_id);
        let Facts { tokens, most, .. } = facts;
        let tokens_at_most = most.input.unwrap_or(0).saturating_add(most.output.unwrap_or(0));
        let charge = Charge { time: self.event.time, provider, conversation, cost, tokens, tokens_at_most };
        Box::pin(self.wait_for_budget(charge)).await
    }

    /// Reserves `charge`. While the rest of a budget is reserved for other calls it is not known whether there is room: they
    /// are waited for, since most of them cost less than they might.
    async fn wait_for_budget(&mut self, mut charge: Charge) -> Result<(), Stop> {
        let Some(limits) = self.limits.clone() else { return Ok(()) };
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut settled = pin!(self.core.settled.of(&self.event.agent).notified());
            // Before it is tried: a call that is settled in between must be heard of.
            settled.as_mut().enable();
            charge = match limits.admit(charge, self.core.clock.now()) {
                Ok(reservation) => {
                    self.reservation = Some(reservation);
                    return Ok(());
                }
                Err((Refused::BudgetHeld { .. }, charge)) if Instant::now() < deadline => charge,
                Err((refused, _)) => return Err(self.refused(refused)),
            };
            let _ = timeout(LOOK, settled).await;
            self.check_active().await?;
        }
    }

    /// What can be read of a request. What cannot be counts as the most expensive that its length allows.
    fn facts(&self, headers: &HeaderMap, body: &Bytes) -> Facts {
        let read = || {
            let dialect = self.dialect?;
            let body = readable(headers, body, self.core.config.max_read()).ok()?;
            let asked = wire::read_request(dialect, &body).ok()?;
            let model = self.event.model.as_deref().or(asked.model.as_deref());
            Some(Facts {
                model: model.map(recorded::model_name),
                conversation: Some(wire::conversation_of(headers, &asked)),
                ..Facts::of(wire::asked_tokens(body.len(), &asked), asked.max_output)
            })
        };
        let facts = self.core.shield.run(read).flatten();
        facts.unwrap_or_else(|| Facts::of(body.len() as u64, None))
    }

    /// Puts the model that the policy wants in the place of the one that was asked for (`in_path`, if it is named there),
    /// and notes both.
    pub(crate) fn put_model(
        &mut self,
        in_path: Option<&str>,
        path: &mut Cow<'_, str>,
        headers: &mut HeaderMap,
        body: &mut Bytes,
    ) {
        let Some(model) = self.model_to_use.take() else { return };
        if let Some(changed) = in_path.and_then(|asked| wire::path_with_model(path, asked, &model)) {
            *path = Cow::Owned(changed);
        } else {
            let plain = readable(headers, body, self.core.config.max_read()).ok();
            let Some(changed) = plain.and_then(|plain| wire::body_with_model(&plain, &model)) else { return };
            *body = changed.into();
            // It is sent as it was read: plain, and with a length of its own.
            headers.remove(CONTENT_ENCODING);
            headers.remove(CONTENT_LENGTH);
            if headers.get(CONTENT_TYPE).is_some_and(names_charset) {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
        }
        self.event.model_asked = self.event.model.replace(recorded::model_name(&model));
    }

    /// Puts what the call did take in the place of what was reserved for it. Does nothing the second time.
    pub(crate) fn settle(&mut self) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        let policies = self.core.guard.policies();
        let reservation = self.reservation.take();
        // The policy may have come while the call was in flight.
        if reservation.is_none() && policies.counted(&self.event.agent).is_none() {
            return;
        }
        let conversation = self.event.conversation.as_deref().map(conversation_id);
        let reserved = reservation.as_ref().map(|reservation| reservation.charge());
        let tokens = self.event.usage.input.unwrap_or(0).saturating_add(self.event.usage.output.unwrap_or(0));
        let actual = Charge {
            time: self.event.time,
            provider: self.event.provider.clone().unwrap_or_default(),
            conversation: reserved.and_then(|charge| charge.conversation).or(conversation),
            cost: self.counted_cost(),
            tokens,
            tokens_at_most: tokens,
        };
        policies.settle(&self.event.agent, reservation, &actual);
        self.core.settled.of(&self.event.agent).notify_waiters();
    }

    /// What the call counts towards budgets: an unpriced model is not free.
    fn counted_cost(&self) -> NanoUsd {
        let event = &self.event;
        if event.usage == Usage::default() {
            return NanoUsd::ZERO;
        }
        let (provider, model) = (event.provider.as_deref(), event.model.as_deref());
        let counted =
            || self.core.config.prices.counted(provider.unwrap_or_default(), model.unwrap_or_default(), &event.usage);
        event.cost.unwrap_or_else(counted)
    }

    fn refused(&self, refused: Refused) -> Stop {
        let status = self.refusal_status();
        let (reason, kind) = match refused {
            Refused::OutsideHours => {
                let time_zone = self.limits.as_ref().map(|limits| limits.policy().time_zone.to_string());
                let time_zone = time_zone.unwrap_or_default();
                (BlockReason::OutsideHours, RefusalKind::OutsideHours { time_zone, status })
            }
            Refused::BudgetExceeded { budget, limit, renewed_in_seconds: retry_after_seconds } => {
                let budget = budget_name(budget);
                (
                    BlockReason::BudgetExceeded,
                    RefusalKind::BudgetExceeded { budget, limit, retry_after_seconds, status },
                )
            }
            Refused::RateLimited { retry_after_seconds } => {
                (BlockReason::RateLimited, RefusalKind::RateLimited { retry_after_seconds })
            }
            Refused::BudgetHeld { renewed_in_seconds } => {
                let retry_after_seconds = renewed_in_seconds.unwrap_or(u64::MAX).min(PATIENCE.as_secs());
                (BlockReason::RateLimited, RefusalKind::BudgetHeld { retry_after_seconds })
            }
        };
        Stop::Policy(reason, Box::new(kind))
    }
}

impl Facts {
    fn of(tokens: u64, max_output: Option<u64>) -> Facts {
        let output = max_output.unwrap_or(MOST_OUTPUT);
        let most = Usage { input: Some(tokens.saturating_mul(INPUT_MARGIN)), output: Some(output), ..Usage::default() };
        Facts { tokens, most, ..Facts::default() }
    }
}

/// Whether a content type names a character set: a body that was in UTF-16 is sent on in UTF-8.
fn names_charset(content_type: &HeaderValue) -> bool {
    content_type.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("charset"))
}

fn budget_name(budget: Budget) -> &'static str {
    match budget {
        Budget::Of(BudgetPeriod::Day) => "daily",
        Budget::Of(BudgetPeriod::Week) => "weekly",
        Budget::Of(BudgetPeriod::Month) => "monthly",
        Budget::Conversation => "conversation",
    }
}
