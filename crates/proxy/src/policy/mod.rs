//! The policy of a call's agent: whether the call may be made, what is reserved for it, and which
//! model it gets. A call of an agent without a policy takes no lock here.

pub(crate) mod budget_waiters;
pub(crate) mod model_override;
pub(crate) mod spending;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use guard::{Budget, Charge, Limits, Refused, conversation_id};
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

/// The policy of one call's agent, if it has one.
pub(crate) struct CallPolicy(Option<Arc<Limits>>);

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
        let now = call.event.time;
        let policy = CallPolicy(call.core.guard.policies().of(&call.event.agent, now));
        if let Some(limits) = &policy.0 {
            limits.precheck(provider, now).map_err(|refused| refusal(call, limits, refused))?;
        }
        Ok(policy)
    }

    /// Whether the agent has a policy that limits anything.
    fn limits(&self) -> Option<&Arc<Limits>> {
        self.0.as_ref().filter(|limits| !limits.policy().is_empty())
    }

    /// Reserves budget for a call whose cost is unknown. An agent that has spent its budget cannot
    /// make it.
    pub(crate) async fn reserve_unknown(&self, call: &mut Call) -> Result<(), Stop> {
        let Some(limits) = self.limits() else { return Ok(()) };
        reserve(call, limits, None, Estimate::default()).await
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
        let Some(limits) = self.limits() else { return Ok(None) };
        let estimate = match request {
            Ok(request) => Estimate::of_request(call.event.model.as_deref(), request),
            Err(_) => Estimate::of_tokens(length as u64, None),
        };
        let provider = call.event.provider.as_deref().unwrap_or_default();
        let model = limits.policy().model_for(provider, estimate.model.as_deref()).map(str::to_owned);
        reserve(call, limits, model.as_deref(), estimate).await?;
        Ok(model)
    }
}

async fn reserve(call: &mut Call, limits: &Arc<Limits>, model: Option<&str>, estimate: Estimate) -> Result<(), Stop> {
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
    Box::pin(wait_for_budget(call, limits, charge)).await
}

/// Reserves `charge`. While the rest of a budget is reserved for other calls, this waits for them,
/// because most of them use less than their reservation.
async fn wait_for_budget(call: &mut Call, limits: &Arc<Limits>, mut charge: Charge) -> Result<(), Stop> {
    let core = Arc::clone(&call.core);
    let deadline = Instant::now() + MAX_WAIT;
    loop {
        let mut settled = pin!(core.budget_waiters.of(&call.event.agent).notified());
        // Before the attempt, so that no call is missed that is settled in between.
        settled.as_mut().enable();
        charge = match limits.admit(charge, core.clock.now()) {
            Ok(reservation) => {
                call.spending.reserve(reservation);
                return Ok(());
            }
            Err((Refused::BudgetHeld { .. }, charge)) if Instant::now() < deadline => charge,
            Err((refused, _)) => return Err(refusal(call, limits, refused)),
        };
        let _ = timeout(CHECK_EVERY, settled).await;
        call.check_active().await?;
    }
}

fn refusal(call: &Call, limits: &Limits, refused: Refused) -> Stop {
    let status = call.refusal_status();
    let (reason, kind) = match refused {
        Refused::OutsideHours => {
            let time_zone = limits.policy().time_zone.to_string();
            (BlockReason::OutsideHours, RefusalKind::OutsideHours { time_zone, status })
        }
        Refused::BudgetExceeded { budget, limit, renewed_in_seconds: retry_after_seconds } => {
            let budget = budget_name(budget);
            (BlockReason::BudgetExceeded, RefusalKind::BudgetExceeded { budget, limit, retry_after_seconds, status })
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
