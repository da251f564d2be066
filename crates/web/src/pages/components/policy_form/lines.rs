//! The lines of a policy's form whose number is not fixed: hours, rates and models.

use model::{ANY, AllowedHours, FieldError, ModelOverride, RateLimit, TimeOfDay, Weekday};

use crate::pages::words::policy::{self as words, line};
use crate::pages::words::problem::takes;

/// Hours on some days.
#[derive(Debug, Default, PartialEq)]
pub(in crate::pages) struct HoursLine {
    pub(super) days: Vec<Weekday>,
    pub(in crate::pages) from: String,
    pub(in crate::pages) to: String,
}

/// Rates to a provider.
#[derive(Debug, Default, PartialEq)]
pub(in crate::pages) struct RateLine {
    pub(in crate::pages) provider: String,
    pub(in crate::pages) requests: String,
    pub(in crate::pages) tokens: String,
}

/// Another model.
#[derive(Debug, Default, PartialEq)]
pub(in crate::pages) struct ModelLine {
    pub(in crate::pages) provider: String,
    pub(in crate::pages) model: String,
    pub(in crate::pages) used: String,
}

impl HoursLine {
    pub(super) fn is_empty(&self) -> bool {
        self.days.is_empty() && self.from.is_empty() && self.to.is_empty()
    }

    /// The days to choose from: the word, the name, and whether it is chosen.
    pub(in crate::pages) fn days(&self) -> [(&'static str, &'static str, bool); 7] {
        Weekday::ALL.map(|day| (day.as_str(), words::day(day), self.days.contains(&day)))
    }

    pub(super) fn read(&self, number: usize) -> Result<AllowedHours, FieldError> {
        let time = |name: &str, text: &str| {
            let wrong = || FieldError::new("allowed_hours", format!("{number}: {name} {}", TimeOfDay::EXPECTED));
            TimeOfDay::parse(text).ok_or_else(wrong)
        };
        Ok(AllowedHours { days: self.days.clone(), from: time(line::FROM, &self.from)?, to: time(line::TO, &self.to)? })
    }
}

impl RateLine {
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.tokens.is_empty()
    }

    pub(super) fn read(&self, number: usize) -> Result<RateLimit, FieldError> {
        let rate = |name: &str, text: &str| match text {
            "" => Ok(None),
            text => text
                .parse()
                .map(Some)
                .map_err(|_| FieldError::new("rate_limits", format!("{number}: {name} {}", takes::RATE))),
        };
        Ok(RateLimit {
            provider: self.provider.clone(),
            requests_per_minute: rate(line::CALLS, &self.requests)?,
            tokens_per_minute: rate(line::TOKENS, &self.tokens)?,
        })
    }
}

impl ModelLine {
    pub(super) fn is_empty(&self) -> bool {
        self.used.is_empty() && (self.model.is_empty() || self.model == ANY)
    }

    pub(super) fn read(&self) -> ModelOverride {
        let model = if self.model.is_empty() { ANY } else { &self.model };
        ModelOverride { provider: self.provider.clone(), model: model.to_owned(), used: self.used.clone() }
    }
}
