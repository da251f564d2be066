//! The policy of a call's agent: whether the call may be made, what is reserved for it, and which
//! model it gets. A call of an agent without a policy takes no lock here.

pub(crate) mod budget_waiters;
pub(crate) mod model_override;
pub(crate) mod spending;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use guard::{Budget, Charge, GroupLimits, Limits, Refused, conversation_id};
use model::{BlockReason, BudgetPeriod, Usage};
use tokio::time::{Instant, timeout};
use wire::RefusalKind;

use crate::call::Call;
use crate::error::Stop;
use crate::request::read::ReadRequest;
use crate::truncate;

/// Output tokens that are reserved for a call that sets no limit itself.
const MOST_OUTPUT: u64 = 16_384;
/// The token count of a text is an estimate; the reservation must be above the real one.
const INPUT_MARGIN: u64 = 2;
/// How long a call waits for others that have reserved the rest of a budget. After that, the time
/// for a retry is unknown: calls that took so long may well take as long again.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// How often a waiting call checks whether the budget was changed meanwhile.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// What limits one call: the policy of its agent, if it has one, and those of its groups.
pub(crate) struct CallPolicy {
    own: Option<Arc<Limits>>,
    groups: Vec<GroupLimits>,
}

/// What a policy needs to know of a call before it is made.
#[derive(Default)]
struct Estimate {
    model: Option<String>,
    conversation: Option<String>,
    /// The most that it may use.
    most: Usage,
    /// About how many tokens it sends.
    tokens: u64,
}

impl CallPolicy {
    /// Checks hours and calls per minute, before the body is read: a call that they refuse costs
    /// little.
    pub(crate) fn check(call: &Call, provider: &str) -> Result<CallPolicy, Stop> {
        let (policies, now) = (call.core.guard.policies(), call.event.time);
        let agent = &call.event.agent;
        let policy = CallPolicy { own: policies.of(agent, now), groups: policies.groups_of(agent) };
        for (position, limits) in policy.all().iter().enumerate() {
            limits.precheck(provider, now).map_err(|refused| policy.refusal(call, position, refused))?;
        }
        Ok(policy)
    }

    /// Whether anything limits the call.
    fn is_limited(&self) -> bool {
        !self.groups.is_empty() || self.own.as_ref().is_some_and(|limits| !limits.policy().is_empty())
    }

    /// What limits the call: the agent's own policy, then its groups by name.
    fn all(&self) -> Vec<Arc<Limits>> {
        self.own.iter().chain(self.groups.iter().map(|it| &it.limits)).cloned().collect()
    }

    /// Reserves budget for a call whose cost is unknown. An agent that has spent its budget cannot
    /// make it.
    pub(crate) async fn reserve_unknown(&self, call: &mut Call) -> Result<(), Stop> {
        if !self.is_limited() {
            return Ok(());
        }
        self.reserve_estimate(call, None, Estimate::default()).await
    }

    /// Reserves what a conversation may use, and returns the model that the policy puts in the
    /// place of the one that is asked for. `request` is an error if the body, of this `length`,
    /// cannot be read.
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
        // Boxed, because few agents have a policy: else the future of every call would have room for
        // it.
        Box::pin(self.wait_for_budget(call, charge)).await
    }

    /// Reserves `charge`. While the rest of a budget is reserved for other calls, this waits for
    /// them, because most of them use less than their reservation.
    async fn wait_for_budget(&self, call: &mut Call, mut charge: Charge) -> Result<(), Stop> {
        let core = Arc::clone(&call.core);
        let (all, deadline) = (self.all(), Instant::now() + MAX_WAIT);
        // A call of the agent is one of its group, too; of further groups, the check every second
        // hears.
        let name = self.groups.first().map_or(call.event.agent.as_str(), |it| it.group.name.as_str()).to_owned();
        loop {
            let mut settled = pin!(core.budget_waiters.of_name(&name).notified());
            // Before the attempt, so that no call is missed that is settled in between.
            settled.as_mut().enable();
            charge = match Limits::admit_all(&all, charge, core.clock.now()) {
                Ok(mut reservations) => {
                    let of_groups = reservations.split_off(usize::from(self.own.is_some()));
                    call.spending.reserve(reservations.pop(), of_groups);
                    return Ok(());
                }
                Err((_, Refused::BudgetHeld { .. }, charge)) if Instant::now() < deadline => charge,
                Err((position, refused, _)) => return Err(self.refusal(call, position, refused)),
            };
            let _ = timeout(CHECK_EVERY, settled).await;
            call.check_active().await?;
        }
    }

    /// Why the policy at `position` refuses a call.
    fn refusal(&self, call: &Call, position: usize, refused: Refused) -> Stop {
        let of_groups = position.checked_sub(usize::from(self.own.is_some()));
        let group = of_groups.and_then(|position| self.groups.get(position));
        let policy = group.map(|it| &it.limits).or(self.own.as_ref()).map(|limits| limits.policy());
        let (status, group) = (call.refusal_status(), group.map(|it| it.group.name.clone()));
        let (reason, kind) = match refused {
            Refused::OutsideHours => {
                let time_zone = policy.map(|policy| policy.time_zone.to_string()).unwrap_or_default();
                (BlockReason::OutsideHours, RefusalKind::OutsideHours { time_zone, status })
            }
            Refused::BudgetExceeded { budget, limit, renewed_in_seconds: retry_after_seconds } => {
                let budget = budget_name(budget);
                let kind = RefusalKind::BudgetExceeded { budget, group, limit, retry_after_seconds, status };
                (BlockReason::BudgetExceeded, kind)
            }
            Refused::RateLimited { retry_after_seconds } => {
                (BlockReason::RateLimited, RefusalKind::RateLimited { retry_after_seconds })
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
    /// `in_path` is the model that the path names: it is the one that answers.
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
