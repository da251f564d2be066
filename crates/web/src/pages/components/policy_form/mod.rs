//! The fields of a policy's form: as shown, as submitted, and the change that they ask for. An
//! empty line is ignored; there is always one to add.

mod lines;

use std::collections::HashMap;

use model::{ANY, AllowedHours, FieldError, NanoUsd, Policy, PolicyChange, Weekday};

use self::lines::{HoursLine, ModelLine, RateLine};
use crate::pages::words::problem::takes;

/// The form as texts: it keeps what was typed, even if that is wrong.
#[derive(Debug, Default, PartialEq)]
pub(in crate::pages) struct PolicyForm {
    pub(in crate::pages) daily: String,
    pub(in crate::pages) weekly: String,
    pub(in crate::pages) monthly: String,
    pub(in crate::pages) conversation: String,
    pub(in crate::pages) time_zone: String,
    pub(in crate::pages) hours: Vec<HoursLine>,
    pub(in crate::pages) rates: Vec<RateLine>,
    pub(in crate::pages) models: Vec<ModelLine>,
}

impl PolicyForm {
    /// The form of a stored policy.
    pub(in crate::pages) fn new(policy: &Policy) -> PolicyForm {
        let dollars = |budget: Option<NanoUsd>| budget.map(|budget| budget.usd().to_string()).unwrap_or_default();
        let number = |rate: Option<u64>| rate.map(|rate| rate.to_string()).unwrap_or_default();
        let hours = policy.allowed_hours.iter().flatten().map(|it| HoursLine {
            days: it.days.clone(),
            from: it.from.to_string(),
            to: it.to.to_string(),
        });
        let rates = policy.rate_limits.iter().map(|it| RateLine {
            provider: it.provider.clone(),
            requests: number(it.requests_per_minute),
            tokens: number(it.tokens_per_minute),
        });
        let models = policy.model_overrides.iter().map(|it| ModelLine {
            provider: it.provider.clone(),
            model: it.model.clone(),
            used: it.used.clone(),
        });
        PolicyForm {
            daily: dollars(policy.budget_daily),
            weekly: dollars(policy.budget_weekly),
            monthly: dollars(policy.budget_monthly),
            conversation: dollars(policy.budget_conversation),
            time_zone: policy.time_zone.to_string(),
            hours: hours.collect(),
            rates: rates.collect(),
            models: models.collect(),
        }
        .with_empty_lines()
    }

    /// The submitted form.
    pub(in crate::pages) fn sent(pairs: Vec<(String, String)>) -> PolicyForm {
        let fields: &HashMap<String, String> = &pairs.into_iter().collect();
        let text = |name: &str| fields.get(name).map(|text| text.trim().to_owned()).unwrap_or_default();
        // Fields of a line have its number at their end.
        let lines =
            |first: &'static str| (0_usize..).take_while(move |line| fields.contains_key(&format!("{first}_{line}")));
        let day_is_set = |line: usize, day: Weekday| fields.contains_key(&format!("{}_{line}", day.as_str()));
        let hours = lines("from").map(|line| HoursLine {
            days: Weekday::ALL.into_iter().filter(|day| day_is_set(line, *day)).collect(),
            from: text(&format!("from_{line}")),
            to: text(&format!("to_{line}")),
        });
        let rates = lines("requests").map(|line| RateLine {
            provider: text(&format!("rate_provider_{line}")),
            requests: text(&format!("requests_{line}")),
            tokens: text(&format!("tokens_{line}")),
        });
        let models = lines("model").map(|line| ModelLine {
            provider: text(&format!("model_provider_{line}")),
            model: text(&format!("model_{line}")),
            used: text(&format!("use_{line}")),
        });
        PolicyForm {
            daily: text("budget_daily_usd"),
            weekly: text("budget_weekly_usd"),
            monthly: text("budget_monthly_usd"),
            conversation: text("budget_conversation_usd"),
            time_zone: text("time_zone"),
            hours: hours.filter(|line| !line.is_empty()).collect(),
            rates: rates.filter(|line| !line.is_empty()).collect(),
            models: models.filter(|line| !line.is_empty()).collect(),
        }
        .with_empty_lines()
    }

    /// This form with an empty line at the end of each list.
    fn with_empty_lines(mut self) -> PolicyForm {
        self.hours.push(HoursLine::default());
        self.rates.push(RateLine { provider: ANY.to_owned(), ..RateLine::default() });
        self.models.push(ModelLine { provider: ANY.to_owned(), ..ModelLine::default() });
        self
    }

    /// The providers to choose from: the known ones, and those that the form names already.
    pub(in crate::pages) fn providers(&self, known: impl Iterator<Item = String>) -> Vec<String> {
        let named = self.rates.iter().map(|line| &line.provider).chain(self.models.iter().map(|line| &line.provider));
        let mut all: Vec<String> = named.filter(|name| *name != ANY).cloned().chain(known).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The change that it asks for: the whole policy.
    pub(in crate::pages) fn change(&self) -> Result<PolicyChange, FieldError> {
        let hours = self.hours.iter().filter(|line| !line.is_empty()).zip(1..).map(|(line, number)| line.read(number));
        let hours: Vec<AllowedHours> = hours.collect::<Result<_, _>>()?;
        let rates = self.rates.iter().filter(|line| !line.is_empty()).zip(1..).map(|(line, number)| line.read(number));
        let models = self.models.iter().filter(|line| !line.is_empty()).map(ModelLine::read);
        let time_zone = if self.time_zone.is_empty() { "UTC" } else { &self.time_zone };
        Ok(PolicyChange {
            budget_daily_usd: Some(dollars("budget_daily_usd", &self.daily)?),
            budget_weekly_usd: Some(dollars("budget_weekly_usd", &self.weekly)?),
            budget_monthly_usd: Some(dollars("budget_monthly_usd", &self.monthly)?),
            budget_conversation_usd: Some(dollars("budget_conversation_usd", &self.conversation)?),
            time_zone: Some(time_zone.to_owned()),
            allowed_hours: Some((!hours.is_empty()).then_some(hours)),
            rate_limits: Some(rates.collect::<Result<_, _>>()?),
            model_overrides: Some(models.collect()),
        })
    }
}

fn dollars(field: &'static str, text: &str) -> Result<Option<f64>, FieldError> {
    match text.trim_start_matches('$') {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| FieldError::new(field, takes::DOLLARS)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    fn policy() -> Policy {
        let change = r#"{"budget_daily_usd":5,"budget_conversation_usd":0.25,"time_zone":"Europe/Berlin",
            "allowed_hours":[{"days":["mon","fri"],"from":"22:00","to":"06:00"},{"days":["sun"],"from":"00:00","to":"24:00"}],
            "rate_limits":[{"provider":"*","requests_per_minute":60},{"provider":"mine","tokens_per_minute":9000}],
            "model_overrides":[{"provider":"openai","model":"*","use":"small"}]}"#;
        serde_json::from_str::<PolicyChange>(change).unwrap().apply(&Policy::default()).unwrap()
    }

    /// The fields that a browser submits for the form.
    fn pairs(form: &PolicyForm) -> Vec<(String, String)> {
        let mut pairs = vec![
            ("budget_daily_usd".to_owned(), form.daily.clone()),
            ("budget_conversation_usd".to_owned(), form.conversation.clone()),
            ("time_zone".to_owned(), form.time_zone.clone()),
        ];
        let mut put = |name: &str, line: usize, text: &str| pairs.push((format!("{name}_{line}"), text.to_owned()));
        for (line, it) in form.hours.iter().enumerate() {
            it.days().iter().filter(|(_, _, chosen)| *chosen).for_each(|(day, ..)| put(day, line, "on"));
            put("from", line, &it.from);
            put("to", line, &it.to);
        }
        for (line, it) in form.rates.iter().enumerate() {
            put("rate_provider", line, &it.provider);
            put("requests", line, &it.requests);
            put("tokens", line, &it.tokens);
        }
        for (line, it) in form.models.iter().enumerate() {
            put("model_provider", line, &it.provider);
            put("model", line, &it.model);
            put("use", line, &it.used);
        }
        pairs
    }

    #[test]
    fn unchanged_form_changes_nothing() {
        for policy in [policy(), Policy::default()] {
            let form = PolicyForm::new(&policy);
            let sent = PolicyForm::sent(pairs(&form));
            assert_eq!(sent, form);
            assert_eq!(sent.change().unwrap().apply(&Policy::default()).unwrap(), policy);
        }
    }

    #[test]
    fn emptied_line_is_removed_and_filled_line_added() {
        let mut form = PolicyForm::new(&policy());
        form.hours[0] = HoursLine::default();
        form.models[1].used = "any".to_owned();
        let changed = PolicyForm::sent(pairs(&form)).change().unwrap().apply(&policy()).unwrap();
        assert_eq!(changed.allowed_hours.unwrap().len(), 1);
        let last = changed.model_overrides.last().unwrap();
        assert_eq!((last.provider.as_str(), last.model.as_str(), last.used.as_str()), ("*", "*", "any"));
    }

    #[test]
    fn error_names_the_field_and_keeps_what_was_typed() {
        let check = |name: &str, typed: &str, field: &str| {
            let mut sent = pairs(&PolicyForm::new(&policy()));
            sent.retain(|(known, _)| known != name);
            sent.push((name.to_owned(), typed.to_owned()));
            let form = PolicyForm::sent(sent);
            let error = form.change().and_then(|change| change.apply(&policy())).unwrap_err();
            assert_eq!(error.field, field, "{name}");
            assert!(pairs(&form).iter().any(|(known, text)| known == name && text == typed), "{name}");
        };
        check("budget_daily_usd", "much", "budget_daily_usd");
        check("budget_daily_usd", "-1", "budget_daily_usd");
        check("budget_conversation_usd", "NaN", "budget_conversation_usd");
        check("time_zone", "Mars/Olympus", "time_zone");
        check("from_0", "9", "allowed_hours");
        check("from_2", "09:00", "allowed_hours");
        check("requests_0", "many", "rate_limits");
        check("requests_0", "0", "rate_limits");
        check("rate_provider_0", "Open AI", "rate_limits");
        check("use_0", "a b", "model_overrides");
    }

    #[test]
    fn every_provider_that_is_named_can_be_chosen() {
        let known = ["openai", "anthropic"].map(str::to_owned);
        assert_eq!(PolicyForm::new(&policy()).providers(known.into_iter()), ["anthropic", "mine", "openai"]);
    }
}
