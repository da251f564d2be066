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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlertType {
    /// An agent was killed.
    Killed,
    /// An agent whose kill switch only observes looped.
    Observed,
    /// An agent made no call for too long.
    Down,
    /// The condition of an earlier alert is over.
    Recovered,
    /// Too many of an agent's calls failed.
    ErrorRate,
    /// An agent spent too much.
    Budget,
    /// Several alerts in one.
    Digest,
    /// A test of a channel.
    Test,
}

impl AlertType {
    const ALL: [AlertType; 8] = [
        AlertType::Killed,
        AlertType::Observed,
        AlertType::Down,
        AlertType::Recovered,
        AlertType::ErrorRate,
        AlertType::Budget,
        AlertType::Digest,
        AlertType::Test,
    ];

    /// Its name in SQL, webhooks, API and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            AlertType::Killed => "agent.killed",
            AlertType::Observed => "agent.observed",
            AlertType::Down => "agent.down",
            AlertType::Recovered => "agent.recovered",
            AlertType::ErrorRate => "agent.error_rate",
            AlertType::Budget => "agent.budget",
            AlertType::Digest => "alerts.digest",
            AlertType::Test => "alerts.test",
        }
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<AlertType> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
        match self {
            DeliveryState::Queued => "queued",
            DeliveryState::Delivered => "delivered",
            DeliveryState::Failed => "failed",
            DeliveryState::Digested => "digested",
        }
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<DeliveryState> {
        [DeliveryState::Queued, DeliveryState::Delivered, DeliveryState::Failed, DeliveryState::Digested]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}
