//! Alert rules: the condition, the agents it applies to, and how often to notify.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{AgentId, BudgetPeriod, ChannelId, FieldError, Group, Groups, NanoUsd, RuleId, Timestamp};

/// A billion dollars.
const MAX_AMOUNT: NanoUsd = NanoUsd::new(1_000_000_000 * 1_000_000_000);

const SCOPES: &str = "must be the name of an agent, @ and the name of a group, or *";

/// The agents that a rule applies to.
#[derive(Clone, Debug, PartialEq)]
pub enum RuleScope {
    /// All of them, written `*`.
    All,
    /// One.
    One(AgentId),
    /// The agents of a group, written `@` and its name.
    Group {
        /// The group's name.
        name: String,
        /// The group, once the rule is read from the store; `None` before, and if it is gone.
        group: Option<Arc<Group>>,
    },
}

impl RuleScope {
    /// Parses `*`, an agent's name, or `@` and a group's name.
    pub fn parse(text: &str) -> Result<RuleScope, FieldError> {
        if text == "*" {
            return Ok(RuleScope::All);
        }
        if let Some(name) = text.strip_prefix('@') {
            Group::check_name(name).map_err(|_| FieldError::new("agent_id", SCOPES))?;
            return Ok(RuleScope::Group { name: name.to_owned(), group: None });
        }
        let agent = AgentId::parse(text);
        agent.map(RuleScope::One).map_err(|_| FieldError::new("agent_id", SCOPES))
    }

    /// The same scope with the agents that its group has now.
    pub fn resolved(self, groups: &Groups) -> RuleScope {
        match self {
            RuleScope::Group { name, .. } => {
                let group = groups.get(&name);
                RuleScope::Group { name, group }
            }
            other => other,
        }
    }

    /// Whether it includes `agent`.
    pub fn includes(&self, agent: &AgentId) -> bool {
        match self {
            RuleScope::All => true,
            RuleScope::One(one) => one == agent,
            RuleScope::Group { group, .. } => group.as_ref().is_some_and(|group| group.includes(agent)),
        }
    }
}

impl fmt::Display for RuleScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleScope::All => f.write_str("*"),
            RuleScope::One(agent) => agent.fmt(f),
            RuleScope::Group { name, .. } => write!(f, "@{name}"),
        }
    }
}

/// The type of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RuleType {
    /// An agent was killed or observed in a loop.
    KillSwitch,
    /// An agent makes no calls.
    AgentDown,
    /// An agent's calls fail.
    ErrorRate,
    /// An agent spends too much.
    Budget,
}

impl RuleType {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// When a rule fires, with the fields of its type.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule_type", rename_all = "snake_case")]
pub enum Condition {
    /// At every kill or observed loop.
    KillSwitch,
    /// No call for this many minutes.
    AgentDown {
        /// 1 to 1440.
        minutes: u32,
    },
    /// At least this percentage of at least [`Condition::MIN_CALLS`] calls failed in this many
    /// minutes.
    ErrorRate {
        /// Above 0, at most 100.
        percent: f64,
        /// 1 to 1440.
        minutes: u32,
    },
    /// Too much was spent.
    Budget(BudgetLimit),
}

/// The limit of a budget rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BudgetLimit {
    /// An amount in a day, week or month.
    Amount {
        /// Above 0.
        amount_usd: NanoUsd,
        /// In UTC.
        period: BudgetPeriod,
    },
    /// A percentage of a budget that the agent's policy sets for a day, week or month.
    Share {
        /// Above 0, at most 100.
        percent: f64,
    },
}

impl Condition {
    /// The fewest calls for an error rate: two failures of three say little.
    pub const MIN_CALLS: u64 = 10;
    /// The longest period of a rule, in minutes.
    pub const MAX_MINUTES: u32 = 24 * 60;

    /// The type of the rule.
    pub fn rule_type(&self) -> RuleType {
        match self {
            Condition::KillSwitch => RuleType::KillSwitch,
            Condition::AgentDown { .. } => RuleType::AgentDown,
            Condition::ErrorRate { .. } => RuleType::ErrorRate,
            Condition::Budget(_) => RuleType::Budget,
        }
    }

    fn check(&self) -> Result<(), FieldError> {
        let check_minutes = |minutes: u32| match minutes {
            1..=Self::MAX_MINUTES => Ok(()),
            _ => Err(FieldError::new("minutes", "must be a whole number from 1 to 1440")),
        };
        let check_percent = |percent: f64| match percent > 0.0 && percent <= 100.0 {
            true => Ok(()),
            false => Err(FieldError::new("percent", "must be a number above 0, at most 100")),
        };
        match *self {
            Condition::KillSwitch => Ok(()),
            Condition::AgentDown { minutes } => check_minutes(minutes),
            Condition::ErrorRate { percent, minutes } => check_percent(percent).and_then(|()| check_minutes(minutes)),
            Condition::Budget(BudgetLimit::Amount { amount_usd, .. })
                if amount_usd <= NanoUsd::ZERO || amount_usd > MAX_AMOUNT =>
            {
                Err(FieldError::new("amount_usd", "must be an amount of US dollars above 0, at most 1000000000"))
            }
            Condition::Budget(BudgetLimit::Amount { .. }) => Ok(()),
            Condition::Budget(BudgetLimit::Share { percent }) => check_percent(percent),
        }
    }
}

/// A rule that notifies people.
#[derive(Clone, Debug, PartialEq)]
pub struct AlertRule {
    /// Its id.
    pub id: RuleId,
    /// The agents it applies to.
    pub scope: RuleScope,
    /// When it fires.
    pub condition: Condition,
    /// The channels to notify; empty for all channels.
    pub channels: Vec<ChannelId>,
    /// The minutes after an alert in which the same condition of the same agent does not notify
    /// again.
    pub cooldown_minutes: u32,
    /// The interval of reminders while the condition lasts, in minutes.
    pub repeat_minutes: Option<u32>,
    /// Whether to notify when the condition ends.
    pub notify_recovery: bool,
    /// Whether it is enabled.
    pub enabled: bool,
    /// When it was created.
    pub created_at: Timestamp,
}

impl AlertRule {
    /// The default cooldown.
    pub const COOLDOWN_MINUTES: u32 = 15;
    const MAX_PAUSE_MINUTES: u32 = 7 * 24 * 60;

    /// Checks the rule. An error names the invalid field.
    pub fn check(&self) -> Result<(), FieldError> {
        self.condition.check()?;
        if self.cooldown_minutes > Self::MAX_PAUSE_MINUTES {
            return Err(FieldError::new("cooldown_minutes", "must be a whole number from 0 to 10080"));
        }
        if self.repeat_minutes.is_some_and(|minutes| !(1..=Self::MAX_PAUSE_MINUTES).contains(&minutes)) {
            return Err(FieldError::new("repeat_minutes", "must be a whole number from 1 to 10080, or null"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_wrong_rule_names_its_field() {
        let rule = |condition| AlertRule {
            id: RuleId::new(),
            scope: RuleScope::All,
            condition,
            channels: Vec::new(),
            cooldown_minutes: 15,
            repeat_minutes: None,
            notify_recovery: false,
            enabled: true,
            created_at: Timestamp::default(),
        };
        let check = |condition, field: Option<&str>| {
            assert_eq!(rule(condition).check().err().map(|error| error.field), field, "{condition:?}");
        };
        check(Condition::KillSwitch, None);
        check(Condition::AgentDown { minutes: 1 }, None);
        check(Condition::AgentDown { minutes: 0 }, Some("minutes"));
        check(Condition::AgentDown { minutes: 1441 }, Some("minutes"));
        check(Condition::ErrorRate { percent: 100.0, minutes: 5 }, None);
        check(Condition::ErrorRate { percent: 0.0, minutes: 5 }, Some("percent"));
        check(Condition::ErrorRate { percent: f64::NAN, minutes: 5 }, Some("percent"));
        let amount = |nanos| BudgetLimit::Amount { amount_usd: NanoUsd::new(nanos), period: BudgetPeriod::Day };
        let budget = |nanos| Condition::Budget(amount(nanos));
        let share = |percent| Condition::Budget(BudgetLimit::Share { percent });
        check(share(80.0), None);
        check(share(0.0), Some("percent"));
        check(share(100.1), Some("percent"));
        check(budget(1), None);
        check(budget(0), Some("amount_usd"));
        check(budget(MAX_AMOUNT.nanos()), None);
        check(budget(MAX_AMOUNT.nanos() + 1), Some("amount_usd"));
        let repeat = AlertRule { repeat_minutes: Some(0), ..rule(Condition::KillSwitch) };
        assert_eq!(repeat.check().unwrap_err().field, "repeat_minutes");
        let cooldown = AlertRule { cooldown_minutes: 10_081, ..rule(Condition::KillSwitch) };
        assert_eq!(cooldown.check().unwrap_err().field, "cooldown_minutes");
    }

    #[test]
    fn a_condition_is_read_as_it_was_written() {
        let check = |json: &str| {
            let condition: Condition = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&condition).unwrap(), json);
        };
        check(r#"{"rule_type":"kill_switch"}"#);
        check(r#"{"rule_type":"error_rate","percent":5.5,"minutes":10}"#);
        check(r#"{"rule_type":"budget","amount_usd":1.5,"period":"week"}"#);
        check(r#"{"rule_type":"budget","percent":80.0}"#);
    }

    #[test]
    fn a_scope_is_a_star_or_a_name() {
        assert_eq!(RuleScope::parse("*").unwrap(), RuleScope::All);
        assert_eq!(RuleScope::parse("my-agent").unwrap().to_string(), "my-agent");
        assert!(RuleScope::parse("**").is_err());
    }
}
