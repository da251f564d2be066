//! The settings of the kill switch, and the validation of changes.

use serde::{Deserialize, Serialize};

use crate::FieldError;

/// The settings of one agent's kill switch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KillSwitch {
    /// Whether agents are stopped. Detection runs either way.
    pub enabled: bool,
    /// The number of calls that are compared, including the current one.
    pub window_size: u16,
    /// The score above which the kill switch acts.
    pub threshold: f64,
    /// What it does then.
    pub action: Action,
    /// What counts as a repetition.
    pub counting: Counting,
}

impl Default for KillSwitch {
    fn default() -> Self {
        KillSwitch {
            enabled: false,
            window_size: 20,
            threshold: 10.0,
            action: Action::Deactivate,
            counting: Counting::Adaptive,
        }
    }
}

impl KillSwitch {
    /// The largest window an agent can have.
    pub const MAX_WINDOW: u16 = 500;
}

/// What the kill switch does when the score exceeds the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Action {
    /// Deactivate the agent until a person activates it.
    Deactivate,
    /// Refuse this call with 429 and leave the agent active.
    Block,
    /// Let the call through and record an observed incident.
    Observe,
}

impl Action {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<Action> {
        word.parse().ok()
    }
}

/// What counts as a repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Counting {
    /// Evidence of no progress counts.
    Adaptive,
    /// Every request counts and every number is masked.
    Literal,
}

impl Counting {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<Counting> {
        word.parse().ok()
    }
}

/// A change of the settings: an absent field keeps its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of KillSwitch")]
pub struct KillSwitchChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counting: Option<Counting>,
}

impl KillSwitchChange {
    /// This change, completed with the fields of `other`.
    pub fn or(self, other: KillSwitchChange) -> KillSwitchChange {
        KillSwitchChange {
            enabled: self.enabled.or(other.enabled),
            window_size: self.window_size.or(other.window_size),
            threshold: self.threshold.or(other.threshold),
            action: self.action.or(other.action),
            counting: self.counting.or(other.counting),
        }
    }

    /// Applies the change to `current`. An error names the invalid field.
    pub fn apply(self, current: KillSwitch) -> Result<KillSwitch, FieldError> {
        let window_size = match self.window_size {
            None => current.window_size,
            Some(size) => u16::try_from(size)
                .ok()
                .filter(|size| (2..=KillSwitch::MAX_WINDOW).contains(size))
                .ok_or_else(|| FieldError::new("window_size", "must be a whole number from 2 to 500"))?,
        };
        let threshold = self.threshold.unwrap_or(current.threshold);
        if !(threshold > 0.0 && threshold <= 10_000.0) {
            return Err(FieldError::new("threshold", "must be a number above 0, at most 10000"));
        }
        Ok(KillSwitch {
            enabled: self.enabled.unwrap_or(current.enabled),
            window_size,
            threshold,
            action: self.action.unwrap_or(current.action),
            counting: self.counting.unwrap_or(current.counting),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_field_keeps_its_value() {
        let change = KillSwitchChange { threshold: Some(5.0), ..Default::default() };
        let after = change.apply(KillSwitch { enabled: true, ..Default::default() });
        assert_eq!(after, Ok(KillSwitch { enabled: true, threshold: 5.0, ..Default::default() }));
    }

    #[test]
    fn a_bad_value_names_its_field() {
        let check = |change: KillSwitchChange, field: &str| {
            assert_eq!(change.apply(KillSwitch::default()).map_err(|error| error.field), Err(field));
        };
        for size in [0, 1, 501, 65_538, u64::MAX] {
            check(KillSwitchChange { window_size: Some(size), ..Default::default() }, "window_size");
        }
        for threshold in [0.0, -1.0, 10_000.1, f64::NAN, f64::INFINITY] {
            check(KillSwitchChange { threshold: Some(threshold), ..Default::default() }, "threshold");
        }
    }
}
