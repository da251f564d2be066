//! The policy of a call's agent: whether the call is allowed, what is reserved for it, and which
//! model it uses. A call of an agent without a policy takes no lock here.

pub(crate) mod model_override;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use guard::{Budget, Charge, GroupLimits, Limits, Refused, Reservation, conversation_id};
use model::{BlockReason, BudgetPeriod, Usage};
use tokio::time::{Instant, timeout};
use wire::RefusalKind;

use crate::call::Call;
use crate::error::Stop;
use crate::request::read::ReadRequest;
use crate::truncate;

/// Output tokens to reserve for a call without a limit of its own.
const MOST_OUTPUT: u64 = 16_384;
/// Token counts of texts are estimates; the reservation must exceed the real count.
const INPUT_MARGIN: u64 = 2;
/// How long a call waits for others that have reserved the rest of a budget. After that no retry
/// time is known: calls that took this long may take as long again.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(30);
/// How often a waiting call checks whether the budget was changed meanwhile.
pub(crate) const CHECK_EVERY: Duration = Duration::from_secs(1);

/// The limits of one call: the policy of its agent, if any, and those of its groups.
pub(crate) struct CallPolicy {
    own: Option<Arc<Limits>>,
    groups: Vec<GroupLimits>,
}

/// The expected use of a call.
#[derive(Default)]
struct Estimate {
    model: Option<String>,
    conversation: Option<String>,
    /// The most that it may use.
    most: Usage,
    /// The approximate number of tokens it sends.
    tokens: u64,
}

impl CallPolicy {
    /// Checks hours and calls per minute, before the body is read: refused calls cost little.
    pub(crate) fn check(call: &Call, provider: &str) -> Result<CallPolicy, Stop> {
        let (policies, now) = (call.core.guard.policies(), call.event.time);
        let agent = &call.event.agent;
        let policy = CallPolicy { own: policies.of(agent, now), groups: policies.groups_of(agent) };
        for (position, limits) in policy.all().iter().enumerate() {
            limits.precheck(provider, now).map_err(|refused| policy.refusal(call, position, refused))?;
        }
        Ok(policy)
    }

    /// Whether any limit applies to the call.
    fn is_limited(&self) -> bool {
        !self.groups.is_empty() || self.own.as_ref().is_some_and(|limits| !limits.policy().is_empty())
    }

    /// The limits of the call: the agent's own policy, then its groups by name.
    pub(crate) fn all(&self) -> Vec<Arc<Limits>> {
        self.own.iter().chain(self.groups.iter().map(|it| &it.limits)).cloned().collect()
    }

    /// Like [`CallPolicy::all`], each with its name among replicas.
    fn named(&self, call: &Call) -> Vec<(String, Arc<Limits>)> {
        let own = self.own.iter().map(|limits| (format!("agent:{}", call.event.agent), Arc::clone(limits)));
        let groups = self.groups.iter().map(|it| (format!("group:{}", it.group.name), Arc::clone(&it.limits)));
        own.chain(groups).collect()
    }

    /// Reserves budget for a call of unknown cost. It is refused if the agent has spent its budget.
    pub(crate) async fn reserve_unknown(&self, call: &mut Call) -> Result<(), Stop> {
        if !self.is_limited() {
            return Ok(());
        }
        self.reserve_estimate(call, None, Estimate::default()).await
    }

    /// Reserves what a conversation may use, and returns the model by which the policy replaces the
    /// requested one. `request` is an error if the body, of this `length`, is unreadable.
    pub(crate) async fn reserve<E>(
        &self,
        call: &mut Call,
        request: Result<&ReadRequest<'_>, E>,
        length: usize,
    ) -> Result<Option<String>, Stop> {
        if !self.is_limited() {
            return Ok(None);
        }
        let estimate = match request {
            Ok(request) => Estimate::of_request(call.event.model.as_deref(), request),
            Err(_) => Estimate::of_tokens(length as u64, None),
        };
        let provider = call.event.provider.as_deref().unwrap_or_default();
        let own = self.own.as_ref().map(|limits| limits.policy());
        let model = own.and_then(|own| own.model_for(provider, estimate.model.as_deref()).map(str::to_owned));
        self.reserve_estimate(call, model.as_deref(), estimate).await?;
        Ok(model)
    }

    async fn reserve_estimate(&self, call: &mut Call, model: Option<&str>, estimate: Estimate) -> Result<(), Stop> {
        let provider = call.event.provider.clone().unwrap_or_default();
        let Estimate { tokens, most, .. } = estimate;
        let model = model.or(estimate.model.as_deref()).unwrap_or_default();
        let charge = Charge {
            time: call.event.time,
            conversation: estimate.conversation.as_deref().map(conversation_id),
            cost: call.core.config.prices.counted(&provider, model, &most),
            tokens,
            tokens_at_most: most.input.unwrap_or(0).saturating_add(most.output.unwrap_or(0)),
            provider,
        };
        // Boxed, because few agents have a policy: otherwise it would enlarge the future of every
        // call.
        Box::pin(self.wait_for_budget(call, charge)).await
    }

    /// Reserves `charge`. Waits while the rest of a budget is reserved for other calls, because
    /// most of them use less than their reservation.
    async fn wait_for_budget(&self, call: &mut Call, mut charge: Charge) -> Result<(), Stop> {
        let core = Arc::clone(&call.core);
        let (all, deadline) = (self.all(), Instant::now() + MAX_WAIT);
        // A call of the agent also belongs to its first group. The check every second covers
        // further groups.
        let name = self.groups.first().map_or(call.event.agent.as_str(), |it| it.group.name.as_str()).to_owned();
        loop {
            let mut settled = pin!(core.budget_waiters.of_name(&name).notified());
            // Enabled before the attempt, so that no settlement in between is missed.
            settled.as_mut().enable();
            core.budget_clock.check_for_call(core.guard.policies());
            charge = match Limits::admit_share(&all, charge, core.clock.now(), core.dividing_replicas()) {
                Ok(reservations) => {
                    let charge = reservations.first().map(|reservation| reservation.charge().clone());
                    self.hold(call, reservations);
                    if core.config.shared.is_some() {
                        call.spending.share(self.named(call), charge.unwrap_or_default(), core.clock.now());
                    }
                    return Ok(());
                }
                Err((_, Refused::BudgetHeld { .. }, charge)) if Instant::now() < deadline => charge,
                Err((position, refused, _)) => return Err(self.refusal(call, position, refused)),
            };
            let _ = timeout(CHECK_EVERY, settled).await;
            call.check_active().await?;
        }
    }

    /// Reserves the same once more as one of `replicas` that cannot agree: the call passes if this
    /// replica's share has room for it.
    pub(crate) fn reserve_share(&self, call: &mut Call, replicas: u64) -> Result<(), Stop> {
        let Some(charge) = call.spending.take_back() else { return Ok(()) };
        match Limits::admit_share(&self.all(), charge, call.core.clock.now(), replicas) {
            Ok(reservations) => {
                self.hold(call, reservations);
                Ok(())
            }
            Err((position, refused, _)) => Err(self.refusal(call, position, refused)),
        }
    }

    fn hold(&self, call: &mut Call, mut reservations: Vec<Reservation>) {
        let of_groups = reservations.split_off(usize::from(self.own.is_some()));
        call.spending.reserve(reservations.pop(), of_groups);
    }

    /// The refusal by the policy at `position`.
    pub(crate) fn refusal(&self, call: &Call, position: usize, refused: Refused) -> Stop {
        let of_groups = position.checked_sub(usize::from(self.own.is_some()));
        let group = of_groups.and_then(|position| self.groups.get(position));
        let policy = group.map(|it| &it.limits).or(self.own.as_ref()).map(|limits| limits.policy());
        let (status, group) = (call.refusal_status(), group.map(|it| it.group.name.clone()));
        let (reason, kind) = match refused {
            Refused::OutsideHours => {
                let time_zone = policy.map(|policy| policy.time_zone.to_string()).unwrap_or_default();
                (BlockReason::OutsideHours, RefusalKind::OutsideHours { time_zone, group, status })
            }
            Refused::BudgetExceeded { budget, limit, renewed_in_seconds: retry_after_seconds } => {
                let budget = budget_name(budget);
                let kind = RefusalKind::BudgetExceeded { budget, group, limit, retry_after_seconds, status };
                (BlockReason::BudgetExceeded, kind)
            }
            Refused::RateLimited { retry_after_seconds } => {
                (BlockReason::RateLimited, RefusalKind::RateLimited { retry_after_seconds, group })
            }
            Refused::BudgetHeld { renewed_in_seconds } => {
                let retry_after_seconds = renewed_in_seconds.unwrap_or(u64::MAX).min(MAX_WAIT.as_secs());
                (BlockReason::RateLimited, RefusalKind::BudgetHeld { retry_after_seconds })
            }
        };
        Stop::Policy(reason, Box::new(kind))
    }
}

impl Estimate {
    /// `in_path` is the model in the path, which takes precedence.
    fn of_request(in_path: Option<&str>, request: &ReadRequest<'_>) -> Estimate {
        let model = in_path.or(request.asked.model.as_deref());
        Estimate {
            model: model.map(truncate::model_name),
            conversation: Some(request.conversation.clone()),
            ..Estimate::of_tokens(request.tokens, request.asked.max_output)
        }
    }

    fn of_tokens(tokens: u64, max_output: Option<u64>) -> Estimate {
        let output = max_output.unwrap_or(MOST_OUTPUT);
        let most = Usage { input: Some(tokens.saturating_mul(INPUT_MARGIN)), output: Some(output), ..Usage::default() };
        Estimate { tokens, most, ..Estimate::default() }
    }
}

fn budget_name(budget: Budget) -> &'static str {
    match budget {
        Budget::Of(BudgetPeriod::Day) => "daily",
        Budget::Of(BudgetPeriod::Week) => "weekly",
        Budget::Of(BudgetPeriod::Month) => "monthly",
        Budget::Conversation => "conversation",
    }
}
