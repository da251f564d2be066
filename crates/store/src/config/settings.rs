//! The settings for all agents: the configuration, overridden field by field by what people have
//! set.

use model::{FieldError, KillSwitch, KillSwitchChange};
use serde::{Deserialize, Serialize};

/// A hundred years.
const MOST_DAYS: u32 = 36_500;

/// The settings for all agents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// The kill switch of agents that are first seen from now on.
    pub kill_switch: KillSwitch,
    /// How long things are kept.
    pub retention: Retention,
}

/// How long things are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Days that events are kept.
    pub event_days: u32,
    /// Days that incidents with their evidence and the history of alerts are kept. An open incident
    /// stays until it is closed.
    pub incident_days: u32,
    /// Days that daily statistics are kept; statistics by hour and by conversation are kept for two
    /// months at most.
    pub statistics_days: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Retention { event_days: 30, incident_days: 180, statistics_days: 400 }
    }
}

/// A change of the retention: an absent field keeps its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are those of Retention")]
pub struct RetentionChange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_days: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incident_days: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistics_days: Option<u64>,
}

impl RetentionChange {
    /// The retention after this change of `current`, or the field that is wrong.
    pub fn apply(self, current: Retention) -> Result<Retention, FieldError> {
        let days = |field: &'static str, days: Option<u64>, current: u32| match days {
            None => Ok(current),
            Some(days) => u32::try_from(days)
                .ok()
                .filter(|days| (1..=MOST_DAYS).contains(days))
                .ok_or_else(|| FieldError::new(field, format!("must be a whole number of days from 1 to {MOST_DAYS}"))),
        };
        Ok(Retention {
            event_days: days("event_days", self.event_days, current.event_days)?,
            incident_days: days("incident_days", self.incident_days, current.incident_days)?,
            statistics_days: days("statistics_days", self.statistics_days, current.statistics_days)?,
        })
    }

    /// This change, overridden by the fields of `newer`.
    fn then(self, newer: RetentionChange) -> RetentionChange {
        RetentionChange {
            event_days: newer.event_days.or(self.event_days),
            incident_days: newer.incident_days.or(self.incident_days),
            statistics_days: newer.statistics_days.or(self.statistics_days),
        }
    }
}

/// What people have set; an absent field keeps the configured value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SettingsChange {
    /// The kill switch of new agents.
    pub kill_switch: KillSwitchChange,
    /// How long things are kept.
    pub retention: RetentionChange,
}

impl SettingsChange {
    /// Applies the change to `configured`. An error names the invalid field.
    pub fn apply(self, configured: Settings) -> Result<Settings, FieldError> {
        Ok(Settings {
            kill_switch: self.kill_switch.apply(configured.kill_switch)?,
            retention: self.retention.apply(configured.retention)?,
        })
    }

    /// This change, overridden by the fields of `newer`.
    pub fn then(self, newer: SettingsChange) -> SettingsChange {
        let (old, new) = (self.kill_switch, newer.kill_switch);
        let kill_switch = KillSwitchChange {
            enabled: new.enabled.or(old.enabled),
            window_size: new.window_size.or(old.window_size),
            threshold: new.threshold.or(old.threshold),
            action: new.action.or(old.action),
            counting: new.counting.or(old.counting),
        };
        SettingsChange { kill_switch, retention: self.retention.then(newer.retention) }
    }
}
