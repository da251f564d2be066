//! The limits of a policy, in sentences.

use model::{ANY, AllowedHours, BudgetPeriod, ModelOverride, NanoUsd, Policy, RateLimit, Weekday};

use crate::pages::number::grouped;

/// The fields of a line of the form, as its labels name them.
pub(in crate::pages) mod line {
    pub(in crate::pages) const FROM: &str = "from";
    pub(in crate::pages) const TO: &str = "to";
    pub(in crate::pages) const CALLS: &str = "calls";
    pub(in crate::pages) const TOKENS: &str = "tokens";
}

/// The budgets of a policy: `At most $5.00 a day.`
pub(in crate::pages) fn budgets(policy: &Policy) -> Vec<String> {
    let budget = |period| Some(format!("At most {} {}.", policy.budget(period)?, per_period(period)));
    BudgetPeriod::ALL.into_iter().filter_map(budget).collect()
}

/// The other limits of a policy.
pub(in crate::pages) fn other_limits(policy: &Policy) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(budget) = policy.budget_conversation {
        sentences.push(format!("At most {budget} in one conversation."));
    }
    if let Some(hours) = &policy.allowed_hours {
        let hours: Vec<String> = hours.iter().map(range).collect();
        sentences.push(format!("It may call {}, and at no other time.", hours.join(" and ")));
    }
    sentences.extend(policy.rate_limits.iter().map(rate));
    sentences.extend(policy.model_overrides.iter().map(model));
    if policy.has_budget() || policy.allowed_hours.is_some() {
        sentences.push(format!("Its days and hours are those of the time zone {}.", policy.time_zone));
    }
    sentences
}

/// The rates that the agents of a group share.
pub(in crate::pages) fn shared_rates(group: &str, policy: &Policy) -> Vec<String> {
    policy.rate_limits.iter().map(|limit| format!("The group {group}, all agents together: {}", rate(limit))).collect()
}

/// The name of the current period.
pub(in crate::pages) fn period(period: BudgetPeriod) -> &'static str {
    match period {
        BudgetPeriod::Day => "Today",
        BudgetPeriod::Week => "This week",
        BudgetPeriod::Month => "This month",
    }
}

/// The frequency of a period: `a day`.
pub(super) fn per_period(period: BudgetPeriod) -> &'static str {
    match period {
        BudgetPeriod::Day => "a day",
        BudgetPeriod::Week => "a week",
        BudgetPeriod::Month => "a month",
    }
}

/// The name of a day.
pub(in crate::pages) fn day(day: Weekday) -> &'static str {
    match day {
        Weekday::Mon => "Mon",
        Weekday::Tue => "Tue",
        Weekday::Wed => "Wed",
        Weekday::Thu => "Thu",
        Weekday::Fri => "Fri",
        Weekday::Sat => "Sat",
        Weekday::Sun => "Sun",
    }
}

/// How much of a budget is spent: `$1.20 of $5.00`.
pub(in crate::pages) fn spent_of(spent: &str, limit: NanoUsd) -> String {
    format!("{spent} of {limit}")
}

/// The same with its period and share, for people who cannot see the bar.
pub(in crate::pages) fn budget(period: &str, spent_of: &str, percent: &str) -> String {
    format!("{period}: {spent_of} spent, {percent}")
}

/// `Mon–Fri 09:00–18:00`
fn range(hours: &AllowedHours) -> String {
    let days: Vec<Weekday> = Weekday::ALL.into_iter().filter(|day| hours.days.contains(day)).collect();
    let times = format!("{}–{}", hours.from, hours.to);
    match days.as_slice() {
        days if days.len() == Weekday::ALL.len() => format!("every day {times}"),
        [first, .., last] if days.len() > 2 && *last as usize - *first as usize + 1 == days.len() => {
            format!("{}–{} {times}", day(*first), day(*last))
        }
        days => {
            let days: Vec<&str> = days.iter().map(|it| day(*it)).collect();
            format!("{} {times}", days.join(", "))
        }
    }
}

fn rate(limit: &RateLimit) -> String {
    let rates = [(limit.requests_per_minute, line::CALLS), (limit.tokens_per_minute, line::TOKENS)];
    let rates: Vec<String> =
        rates.iter().filter_map(|(rate, of)| Some(format!("{} {of}", grouped((*rate)?)))).collect();
    let target = if limit.provider == ANY { "all providers together" } else { &limit.provider };
    format!("At most {} a minute to {target}.", rates.join(" and "))
}

fn model(it: &ModelOverride) -> String {
    let asked = if it.model == ANY { "any model" } else { &it.model };
    let of = if it.provider == ANY { String::new() } else { format!(" of {}", it.provider) };
    format!("If it asks for {asked}{of}, it gets {}.", it.used)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use model::PolicyChange;

    use super::*;

    fn policy(json: &str) -> Policy {
        serde_json::from_str::<PolicyChange>(json).unwrap().apply(&Policy::default()).unwrap()
    }

    #[test]
    fn policy_is_described_in_sentences() {
        let check = |json: &str, expected: &[&str]| {
            let policy = policy(json);
            assert_eq!([budgets(&policy), other_limits(&policy)].concat(), expected, "{json}");
        };
        check("{}", &[]);
        check(
            r#"{"budget_daily_usd":5,"budget_conversation_usd":0.125}"#,
            &[
                "At most $5.00 a day.",
                "At most $0.125 in one conversation.",
                "Its days and hours are those of the time zone UTC.",
            ],
        );
        check(
            r#"{"rate_limits":[{"provider":"*","requests_per_minute":60},
                {"provider":"openai","requests_per_minute":5,"tokens_per_minute":100000}],
                "model_overrides":[{"provider":"openai","model":"gpt-5","use":"gpt-5-mini"},{"provider":"*","model":"*","use":"m"}]}"#,
            &[
                "At most 60 calls a minute to all providers together.",
                "At most 5 calls and 100,000 tokens a minute to openai.",
                "If it asks for gpt-5 of openai, it gets gpt-5-mini.",
                "If it asks for any model, it gets m.",
            ],
        );
    }

    #[test]
    fn hours_are_abbreviated() {
        let check = |days: &str, expected: &str| {
            let days = days.split(' ').map(|day| Weekday::parse(day).unwrap()).collect();
            let time = |text| model::TimeOfDay::parse(text).unwrap();
            assert_eq!(range(&AllowedHours { days, from: time("22:00"), to: time("06:00") }), expected);
        };
        check("mon tue wed thu fri", "Mon–Fri 22:00–06:00");
        check("fri mon", "Mon, Fri 22:00–06:00");
        check("mon tue", "Mon, Tue 22:00–06:00");
        check("mon tue thu", "Mon, Tue, Thu 22:00–06:00");
        check("sun sat fri thu wed tue mon", "every day 22:00–06:00");
    }
}
