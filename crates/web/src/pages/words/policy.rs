//! What a policy says, in sentences.

use model::{ANY, AllowedHours, BudgetPeriod, FieldError, ModelOverride, Policy, RateLimit, Weekday};

use crate::pages::number::grouped;

/// The budgets of a policy: `At most $5.00 a day.`
pub(in crate::pages) fn budgets(policy: &Policy) -> Vec<String> {
    let budget = |period| Some(format!("At most {} a {}.", policy.budget(period)?, BudgetPeriod::as_str(period)));
    BudgetPeriod::ALL.into_iter().filter_map(budget).collect()
}

/// All else that it says.
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
        sentences.push(format!("Its days begin and its hours are counted in the time zone {}.", policy.time_zone));
    }
    sentences
}

/// What a period is called while it runs.
pub(in crate::pages) fn period(period: BudgetPeriod) -> &'static str {
    match period {
        BudgetPeriod::Day => "Today",
        BudgetPeriod::Week => "This week",
        BudgetPeriod::Month => "This month",
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

/// What is wrong with a form, by the name that the field has on the page. What is `null` in the API is an empty field there.
pub(in crate::pages) fn wrong(error: &FieldError) -> String {
    let name = match error.field {
        "budget_daily_usd" => "Budget per day",
        "budget_weekly_usd" => "Budget per week",
        "budget_monthly_usd" => "Budget per month",
        "budget_conversation_usd" => "Budget per conversation",
        "time_zone" => "Time zone",
        "allowed_hours" => "Allowed hours",
        "rate_limits" => "Rates",
        "model_overrides" => "Models",
        other => other,
    };
    let message = error.message.replace("null", "empty");
    // `2: days must …` is about the second line.
    match message.split_once(": ").filter(|(line, _)| line.parse::<usize>().is_ok()) {
        Some((line, message)) => format!("{name}, line {line}: {message}"),
        None => format!("{name} {message}"),
    }
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
    let rates = [(limit.requests_per_minute, "calls"), (limit.tokens_per_minute, "tokens")];
    let rates: Vec<String> =
        rates.iter().filter_map(|(rate, of)| Some(format!("{} {of}", grouped((*rate)?)))).collect();
    let target = if limit.provider == ANY { "all providers together" } else { &limit.provider };
    format!("At most {} a minute to {target}.", rates.join(" and "))
}

fn model(it: &ModelOverride) -> String {
    let asked = if it.model == ANY { "any model" } else { &it.model };
    let of = if it.provider == ANY { String::new() } else { format!(" of {}", it.provider) };
    format!("Asked for {asked}{of}, it gets {}.", it.used)
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
    fn a_policy_is_told_in_sentences() {
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
                "Its days begin and its hours are counted in the time zone UTC.",
            ],
        );
        check(
            r#"{"rate_limits":[{"provider":"*","requests_per_minute":60},
                {"provider":"openai","requests_per_minute":5,"tokens_per_minute":100000}],
                "model_overrides":[{"provider":"openai","model":"gpt-5","use":"gpt-5-mini"},{"provider":"*","model":"*","use":"m"}]}"#,
            &[
                "At most 60 calls a minute to all providers together.",
                "At most 5 calls and 100,000 tokens a minute to openai.",
                "Asked for gpt-5 of openai, it gets gpt-5-mini.",
                "Asked for any model, it gets m.",
            ],
        );
    }

    #[test]
    fn hours_are_told_shortly() {
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

    #[test]
    fn what_is_wrong_is_said_by_the_name_on_the_page() {
        let check = |json: &str, expected: &str| {
            let change: PolicyChange = serde_json::from_str(json).unwrap();
            assert_eq!(wrong(&change.apply(&Policy::default()).unwrap_err()), expected);
        };
        check(
            r#"{"budget_daily_usd":-1}"#,
            "Budget per day must be a number of dollars from 0 to 1000000, or empty for no budget",
        );
        check(
            r#"{"allowed_hours":[{"days":["mon"],"from":"01:00","to":"02:00"},{"days":[],"from":"01:00","to":"02:00"}]}"#,
            "Allowed hours, line 2: days must name at least one of mon, tue, wed, thu, fri, sat, sun",
        );
    }
}
