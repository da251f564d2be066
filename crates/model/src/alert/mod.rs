//! Alerts: channels, rules and content. Data and its validation.

mod channel;
mod data;
mod rule;
mod smtp;
mod summary;

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use channel::{Channel, ChannelKind, ChannelSettings};
pub use data::{AlertData, BudgetData, DigestLine, ErrorRateData, LoopData, RecoveredData, SilenceData};
pub use rule::{AlertRule, BudgetLimit, Condition, RuleScope, RuleType};
pub use smtp::{SmtpSecurity, SmtpServer};

/// Ids that sort by creation time.
macro_rules! ids {
    ($($(#[$doc:meta])+ $name:ident)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new id.
            #[allow(clippy::new_without_default, reason = "there is no usual id")]
            pub fn new() -> $name {
                $name(Uuid::now_v7())
            }

            /// Parses an id.
            pub fn parse(text: &str) -> Option<$name> {
                Uuid::try_parse(text).ok().map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }
    )+};
}

ids! {
    /// The id of a channel.
    ChannelId
    /// The id of an alert rule.
    RuleId
    /// The id of one alert to one channel: the same on every attempt.
    DeliveryId
}

/// The type of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumString, strum::IntoStaticStr)]
pub enum AlertType {
    /// An agent was killed.
    #[strum(serialize = "agent.killed")]
    Killed,
    /// An agent whose kill switch only observes looped.
    #[strum(serialize = "agent.observed")]
    Observed,
    /// An agent made no call for too long.
    #[strum(serialize = "agent.down")]
    Down,
    /// The condition of an earlier alert is over.
    #[strum(serialize = "agent.recovered")]
    Recovered,
    /// Too many of an agent's calls failed.
    #[strum(serialize = "agent.error_rate")]
    ErrorRate,
    /// An agent spent too much.
    #[strum(serialize = "agent.budget")]
    Budget,
    /// Several alerts in one.
    #[strum(serialize = "alerts.digest")]
    Digest,
    /// A test of a channel.
    #[strum(serialize = "alerts.test")]
    Test,
}

impl AlertType {
    /// Its name in SQL, webhooks, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<AlertType> {
        word.parse().ok()
    }
}

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryState {
    /// Waiting to be sent, for the first time or again.
    Queued,
    /// The target accepted it.
    Delivered,
    /// It was given up.
    Failed,
    /// It was sent as a line of a digest.
    Digested,
}

impl DeliveryState {
    /// Its name in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<DeliveryState> {
        word.parse().ok()
    }
}
