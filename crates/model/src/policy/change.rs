//! A change of a policy and its validation: an invalid value is reported by its field, and nothing
//! is changed.

use serde::{Deserialize, Deserializer, Serialize};

use super::limits::ANY;
use crate::{AllowedHours, FieldError, ModelOverride, NanoUsd, Policy, Provider, RateLimit, Zone};

/// More than anyone spends on one agent.
const MAX_BUDGET: NanoUsd = NanoUsd::new(1_000_000 * 1_000_000_000);
const MAX_RATE: u64 = 1_000_000_000;
/// The most entries of each list: every call goes through them.
const MAX_ENTRIES: usize = 50;
const MAX_MODEL_NAME: usize = 256;

/// A change of a policy: an absent field keeps its value, `null` removes a limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of Policy")]
pub struct PolicyChange {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub budget_daily_usd: Option<Option<f64>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub budget_weekly_usd: Option<Option<f64>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub budget_monthly_usd: Option<Option<f64>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub budget_conversation_usd: Option<Option<f64>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub allowed_hours: Option<Option<Vec<AllowedHours>>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub rate_limits: Option<Vec<RateLimit>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub model_overrides: Option<Vec<ModelOverride>>,
}

/// Deserialises a field that is present, where `null` is a value.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl PolicyChange {
    /// Applies the change to `current`. An error names the invalid field.
    pub fn apply(self, current: &Policy) -> Result<Policy, FieldError> {
        let mut policy = current.clone();
        let budgets = [
            ("budget_daily_usd", self.budget_daily_usd, &mut policy.budget_daily),
            ("budget_weekly_usd", self.budget_weekly_usd, &mut policy.budget_weekly),
            ("budget_monthly_usd", self.budget_monthly_usd, &mut policy.budget_monthly),
            ("budget_conversation_usd", self.budget_conversation_usd, &mut policy.budget_conversation),
        ];
        for (field, change, budget) in budgets {
            if let Some(usd) = change {
                *budget = usd.map(|usd| amount(field, usd)).transpose()?;
            }
        }
        if let Some(name) = self.time_zone {
            policy.time_zone = Zone::parse(&name).ok_or_else(|| FieldError::new("time_zone", Zone::EXPECTED))?;
        }
        if let Some(hours) = self.allowed_hours {
            hours.as_deref().map_or(Ok(()), check_hours)?;
            policy.allowed_hours = hours;
        }
        if let Some(limits) = self.rate_limits {
            check_rates(&limits)?;
            policy.rate_limits = limits;
        }
        if let Some(overrides) = self.model_overrides {
            check_overrides(&overrides)?;
            policy.model_overrides = overrides;
        }
        Ok(policy)
    }
}

fn amount(field: &'static str, usd: f64) -> Result<NanoUsd, FieldError> {
    let amount = NanoUsd::from_usd(usd).filter(|amount| (NanoUsd::ZERO..=MAX_BUDGET).contains(amount));
    amount.ok_or_else(|| FieldError::new(field, "must be a number of dollars from 0 to 1000000, or null for no budget"))
}

fn check_hours(hours: &[AllowedHours]) -> Result<(), FieldError> {
    let wrong = |message: String| Err(FieldError::new("allowed_hours", message));
    if hours.is_empty() || hours.len() > MAX_ENTRIES {
        return wrong(format!("must have 1 to {MAX_ENTRIES} ranges, or be null for always"));
    }
    for (number, range) in (1..).zip(hours) {
        if range.days.is_empty() {
            return wrong(format!("{number}: days must name at least one of mon, tue, wed, thu, fri, sat, sun"));
        }
        if range.from == range.to || range.from == crate::TimeOfDay::MIDNIGHT {
            return wrong(format!("{number}: from and to must differ; the whole day is from 00:00 to 24:00"));
        }
    }
    Ok(())
}

fn check_rates(limits: &[RateLimit]) -> Result<(), FieldError> {
    let wrong = |message: String| Err(FieldError::new("rate_limits", message));
    if limits.len() > MAX_ENTRIES {
        return wrong(format!("must have at most {MAX_ENTRIES} entries"));
    }
    for (position, limit) in limits.iter().enumerate() {
        let number = position + 1;
        check_provider("rate_limits", number, &limit.provider)?;
        if limits[..position].iter().any(|earlier| earlier.provider == limit.provider) {
            return wrong(format!("{number}: there is an entry for provider {} already", limit.provider));
        }
        let rates = [limit.requests_per_minute, limit.tokens_per_minute];
        if rates.iter().all(Option::is_none) {
            return wrong(format!("{number}: requests_per_minute or tokens_per_minute must be given"));
        }
        if rates.into_iter().flatten().any(|rate| !(1..=MAX_RATE).contains(&rate)) {
            return wrong(format!("{number}: rates must be whole numbers from 1 to {MAX_RATE}"));
        }
    }
    Ok(())
}

fn check_overrides(overrides: &[ModelOverride]) -> Result<(), FieldError> {
    let wrong = |message: String| Err(FieldError::new("model_overrides", message));
    if overrides.len() > MAX_ENTRIES {
        return wrong(format!("must have at most {MAX_ENTRIES} entries"));
    }
    for (position, entry) in overrides.iter().enumerate() {
        let number = position + 1;
        check_provider("model_overrides", number, &entry.provider)?;
        // A model's name may become part of a path, so characters that would end or change the path
        // are refused.
        let is_name = |name: &str| {
            let allowed = |byte: u8| byte.is_ascii_graphic() && !b"\"\\?#%".contains(&byte);
            (1..=MAX_MODEL_NAME).contains(&name.len()) && name.bytes().all(allowed) && !name.contains("..")
        };
        if !is_name(&entry.model) || !is_name(&entry.used) || entry.used == ANY {
            return wrong(format!(
                "{number}: model must be a model's name or *, and use a model's name, each of 1 to {MAX_MODEL_NAME} \
                 printable characters"
            ));
        }
        let same = |earlier: &ModelOverride| (&earlier.provider, &earlier.model) == (&entry.provider, &entry.model);
        if overrides[..position].iter().any(same) {
            return wrong(format!("{number}: there is an entry for this provider and model already"));
        }
    }
    Ok(())
}

fn check_provider(field: &'static str, number: usize, name: &str) -> Result<(), FieldError> {
    match name == ANY || Provider::is_name(name) {
        true => Ok(()),
        false => Err(FieldError::new(field, format!("{number}: provider must be a provider's name, or * for all"))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    fn change(json: &str) -> PolicyChange {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn an_absent_field_keeps_its_value_and_null_takes_it_away() {
        let first = change(r#"{"budget_daily_usd":5,"budget_weekly_usd":20.5,"time_zone":"Europe/Berlin"}"#);
        let first = first.apply(&Policy::default()).unwrap();
        assert_eq!(first.budget_daily, NanoUsd::from_usd(5.0));
        let second = change(r#"{"budget_daily_usd":null}"#).apply(&first).unwrap();
        assert_eq!((second.budget_daily, second.budget_weekly), (None, NanoUsd::from_usd(20.5)));
        assert_eq!(second.time_zone.name(), "Europe/Berlin");
    }

    #[test]
    fn a_policy_is_written_as_it_is_read() {
        let json = r#"{"budget_daily_usd":5.0,"budget_weekly_usd":null,"budget_monthly_usd":100.25,"budget_conversation_usd":0.5,"time_zone":"Europe/Berlin","allowed_hours":[{"days":["mon","sun"],"from":"22:00","to":"06:00"}],"rate_limits":[{"provider":"*","requests_per_minute":60,"tokens_per_minute":null}],"model_overrides":[{"provider":"openai","model":"*","use":"gpt-small"}]}"#;
        let policy = change(json).apply(&Policy::default()).unwrap();
        assert_eq!(serde_json::to_string(&policy).unwrap(), json);
        assert_eq!(serde_json::from_str::<Policy>(json).unwrap(), policy);
    }

    #[test]
    fn a_bad_value_names_its_field() {
        let check = |json: &str, field: &str| {
            let error = change(json).apply(&Policy::default()).unwrap_err();
            assert_eq!(error.field, field, "{json}");
        };
        for budget in ["-0.01", "1000001", "1e300"] {
            check(&format!(r#"{{"budget_daily_usd":{budget}}}"#), "budget_daily_usd");
            check(&format!(r#"{{"budget_conversation_usd":{budget}}}"#), "budget_conversation_usd");
        }
        check(r#"{"time_zone":"Mars/Olympus"}"#, "time_zone");
        check(r#"{"allowed_hours":[]}"#, "allowed_hours");
        check(r#"{"allowed_hours":[{"days":[],"from":"09:00","to":"18:00"}]}"#, "allowed_hours");
        check(r#"{"allowed_hours":[{"days":["mon"],"from":"09:00","to":"09:00"}]}"#, "allowed_hours");
        check(r#"{"rate_limits":[{"provider":"*"}]}"#, "rate_limits");
        check(r#"{"rate_limits":[{"provider":"*","requests_per_minute":0}]}"#, "rate_limits");
        check(r#"{"rate_limits":[{"provider":"Open AI","requests_per_minute":1}]}"#, "rate_limits");
        let twice = r#"{"provider":"*","requests_per_minute":1}"#;
        check(&format!(r#"{{"rate_limits":[{twice},{twice}]}}"#), "rate_limits");
        for name in ["", "*", "a b", "a/../b", "a?b", "a\\\"b"] {
            let json = format!(r#"{{"model_overrides":[{{"provider":"openai","model":"*","use":"{name}"}}]}}"#);
            check(&json, "model_overrides");
        }
        let twice = r#"{"provider":"openai","model":"*","use":"a"}"#;
        check(&format!(r#"{{"model_overrides":[{twice},{twice}]}}"#), "model_overrides");
    }
}
