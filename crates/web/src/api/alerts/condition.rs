//! The condition of a rule, from the fields of its type. A rule takes no fields of other types.

use model::{BudgetLimit, BudgetPeriod, Condition, NanoUsd, RuleType};

use super::RuleBody;
use crate::problem::Problem;

/// The fields that only some types of rules have.
#[derive(Default)]
pub(super) struct OwnFields {
    pub(super) minutes: Option<u32>,
    pub(super) percent: Option<f64>,
    pub(super) amount_usd: Option<NanoUsd>,
    pub(super) period: Option<BudgetPeriod>,
}

impl From<Condition> for OwnFields {
    fn from(condition: Condition) -> OwnFields {
        let none = OwnFields::default();
        match condition {
            Condition::KillSwitch => none,
            Condition::AgentDown { minutes } => OwnFields { minutes: Some(minutes), ..none },
            Condition::ErrorRate { percent, minutes } => {
                OwnFields { minutes: Some(minutes), percent: Some(percent), ..none }
            }
            Condition::Budget(BudgetLimit::Amount { amount_usd, period }) => {
                OwnFields { amount_usd: Some(amount_usd), period: Some(period), ..none }
            }
            Condition::Budget(BudgetLimit::Share { percent }) => OwnFields { percent: Some(percent), ..none },
        }
    }
}

/// The condition of a rule of this type: its own fields, completed from `current`.
pub(super) fn condition(
    rule_type: RuleType,
    current: Option<Condition>,
    body: &RuleBody,
) -> Result<Condition, Problem> {
    let before = current.map(OwnFields::from).unwrap_or_default();
    let minutes = own("minutes", body.minutes.or(before.minutes));
    let percent = own("percent", body.percent.or(before.percent));
    let amount = own("amount_usd", body.amount_usd.or(before.amount_usd));
    let period = own("period", body.period.or(before.period));
    let (condition, foreign) = match rule_type {
        RuleType::KillSwitch => (Condition::KillSwitch, vec![minutes.1, percent.1, amount.1, period.1]),
        RuleType::AgentDown => (Condition::AgentDown { minutes: minutes.0? }, vec![percent.1, amount.1, period.1]),
        RuleType::ErrorRate => {
            (Condition::ErrorRate { percent: percent.0?, minutes: minutes.0? }, vec![amount.1, period.1])
        }
        RuleType::Budget => (Condition::Budget(budget(&before, body)?), vec![minutes.1]),
    };
    match foreign.into_iter().flatten().next() {
        Some(field) => Err(Problem::field(field, format!("does not belong to a rule of type {}", rule_type.as_str()))),
        None => Ok(condition),
    }
}

/// An amount in a period, or a percentage of the agent's budget, by which fields are given.
fn budget(before: &OwnFields, body: &RuleBody) -> Result<BudgetLimit, Problem> {
    let gives_amount = body.amount_usd.is_some() || body.period.is_some();
    let percent = if gives_amount { body.percent } else { body.percent.or(before.percent) };
    match percent {
        Some(_) if gives_amount => {
            Err(Problem::field("percent", "is instead of amount_usd and period, not beside them"))
        }
        Some(percent) => Ok(BudgetLimit::Share { percent }),
        None => {
            let amount_usd = body.amount_usd.or(before.amount_usd);
            let amount_usd = amount_usd.ok_or_else(|| Problem::field("amount_usd", "must be given, or percent"))?;
            Ok(BudgetLimit::Amount { amount_usd, period: own("period", body.period.or(before.period)).0? })
        }
    }
}

/// A field with its name, for types that require it and for those that refuse it.
fn own<T>(field: &'static str, value: Option<T>) -> (Result<T, Problem>, Option<&'static str>) {
    let given = value.is_some().then_some(field);
    (value.ok_or_else(|| Problem::field(field, "must be given")), given)
}
