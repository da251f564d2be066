//! Policies: budgets, allowed hours, rate limits and model overrides of an agent.

use serde::{Deserialize, Serialize};

use crate::{AllowedHours, BudgetPeriod, NanoUsd, Zone};

/// The limits of one agent. The default has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The budget of a day in `time_zone`.
    #[serde(rename = "budget_daily_usd")]
    pub budget_daily: Option<NanoUsd>,
    /// The budget of a week, from Monday on.
    #[serde(rename = "budget_weekly_usd")]
    pub budget_weekly: Option<NanoUsd>,
    /// The budget of a month.
    #[serde(rename = "budget_monthly_usd")]
    pub budget_monthly: Option<NanoUsd>,
    /// The budget of one conversation.
    #[serde(rename = "budget_conversation_usd")]
    pub budget_conversation: Option<NanoUsd>,
    /// The time zone of its days and hours.
    pub time_zone: Zone,
    /// When it may call; `None` for always.
    pub allowed_hours: Option<Vec<AllowedHours>>,
    /// How often it may call.
    pub rate_limits: Vec<RateLimit>,
    /// The models that replace the requested ones.
    pub model_overrides: Vec<ModelOverride>,
}

/// Stands for all providers, or all models.
pub const ANY: &str = "*";

/// How often an agent may call a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// The provider, or [`ANY`] for all of them together.
    pub provider: String,
    /// The most calls in any sixty seconds.
    #[serde(default)]
    pub requests_per_minute: Option<u64>,
    /// The most tokens, in and out, in any sixty seconds.
    #[serde(default)]
    pub tokens_per_minute: Option<u64>,
}

impl RateLimit {
    /// Whether calls to `provider` count.
    pub fn covers(&self, provider: &str) -> bool {
        self.provider == ANY || self.provider == provider
    }
}

/// Replaces the requested model by another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelOverride {
    /// The provider, or [`ANY`].
    pub provider: String,
    /// The requested model, or [`ANY`].
    pub model: String,
    /// The model that is used.
    #[serde(rename = "use")]
    pub used: String,
}

/// What an agent has spent so far in the day, week and month of its policy's time zone, and in its
/// conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spending {
    /// Today.
    pub day: NanoUsd,
    /// This week.
    pub week: NanoUsd,
    /// This month.
    pub month: NanoUsd,
    /// By conversation, the most recently used last.
    pub conversations: Vec<(String, NanoUsd)>,
}

impl Spending {
    /// The spending in a period.
    pub fn of(&self, period: BudgetPeriod) -> NanoUsd {
        match period {
            BudgetPeriod::Day => self.day,
            BudgetPeriod::Week => self.week,
            BudgetPeriod::Month => self.month,
        }
    }

    /// The spending in a period, to be changed.
    pub fn of_mut(&mut self, period: BudgetPeriod) -> &mut NanoUsd {
        match period {
            BudgetPeriod::Day => &mut self.day,
            BudgetPeriod::Week => &mut self.week,
            BudgetPeriod::Month => &mut self.month,
        }
    }
}

impl Policy {
    /// Whether it has no limits, so that its agent's calls need not be counted.
    pub fn is_empty(&self) -> bool {
        !self.has_budget()
            && self.allowed_hours.is_none()
            && self.rate_limits.is_empty()
            && self.model_overrides.is_empty()
    }

    /// The budget of a period.
    pub fn budget(&self, period: BudgetPeriod) -> Option<NanoUsd> {
        match period {
            BudgetPeriod::Day => self.budget_daily,
            BudgetPeriod::Week => self.budget_weekly,
            BudgetPeriod::Month => self.budget_monthly,
        }
    }

    /// Whether it has a budget.
    pub fn has_budget(&self) -> bool {
        self.budget_conversation.is_some() || BudgetPeriod::ALL.iter().any(|period| self.budget(*period).is_some())
    }

    /// Whether spending counted under this policy is also right for `other`: the same days, and
    /// conversations if `other` has a budget for them.
    pub fn counts_like(&self, other: &Policy) -> bool {
        let conversations = self.budget_conversation.is_some() || other.budget_conversation.is_none();
        self.time_zone == other.time_zone && conversations
    }

    /// The model that replaces `asked`, if any. An entry that names provider and model takes
    /// precedence over one that names the provider, and that over one that names the model.
    pub fn model_for(&self, provider: &str, asked: Option<&str>) -> Option<&str> {
        let covers = |it: &&ModelOverride| {
            (it.provider == ANY || it.provider == provider) && (it.model == ANY || Some(it.model.as_str()) == asked)
        };
        let best = self.model_overrides.iter().filter(covers).max_by_key(|it| (it.provider != ANY, it.model != ANY))?;
        (Some(best.used.as_str()) != asked).then_some(best.used.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_specific_override_applies() {
        let over = |provider: &str, model: &str, used: &str| ModelOverride {
            provider: provider.into(),
            model: model.into(),
            used: used.into(),
        };
        let policy = Policy {
            model_overrides: vec![
                over("*", "*", "any"),
                over("openai", "*", "small"),
                over("openai", "gpt-large", "medium"),
                over("*", "claude-large", "claude-small"),
            ],
            ..Policy::default()
        };
        let check = |provider: &str, asked: Option<&str>, expected: Option<&str>| {
            assert_eq!(policy.model_for(provider, asked), expected, "{provider} {asked:?}");
        };
        check("openai", Some("gpt-large"), Some("medium"));
        check("openai", Some("gpt-other"), Some("small"));
        check("openai", Some("small"), None);
        check("openai", None, Some("small"));
        check("anthropic", Some("claude-large"), Some("claude-small"));
        check("anthropic", Some("claude-other"), Some("any"));
        assert_eq!(Policy::default().model_for("openai", Some("gpt-large")), None);
    }
}
