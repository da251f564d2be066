//! Alerts: who is told (channels), of what (rules), and what they are told. Data and its
//! validation.

mod channel;
mod data;
mod rule;

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub(crate) use channel::is_mail_address;
pub use channel::{Channel, ChannelKind, ChannelSettings};
pub use data::{AlertData, BudgetData, DigestLine, ErrorRateData, LoopData, RecoveredData, SilenceData};
pub use rule::{AlertRule, BudgetLimit, Condition, RuleScope, RuleType};

/// Ids that sort by the time they were made.
macro_rules! ids {
    ($($(#[$doc:meta])+ $name:ident)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A fresh id.
            #[allow(clippy::new_without_default, reason = "there is no usual id")]
            pub fn new() -> $name {
                $name(Uuid::now_v7())
            }

            /// Reads an id as it is written.
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

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlertType {
    /// An agent was killed.
    Killed,
    /// An agent whose kill switch only observes looped.
    Observed,
    /// An agent made no call for too long.
    Down,
    /// What an earlier alert told is over.
    Recovered,
    /// Too many of an agent's calls failed.
    ErrorRate,
    /// An agent spent too much.
    Budget,
    /// Several alerts in one.
    Digest,
    /// A person wants to see whether a channel works.
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

    /// The word for it in SQL, webhooks, API and docs.
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

    /// Reads the word.
    pub fn parse(word: &str) -> Option<AlertType> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It is to be sent, for the first time or again.
    Queued,
    /// The target took it.
    Delivered,
    /// It was given up.
    Failed,
    /// It was told as a line of a digest.
    Digested,
}

impl DeliveryState {
    /// The word for it in SQL, API and docs.
    pub fn as_str(self) -> &'static str {
        match self {
            DeliveryState::Queued => "queued",
            DeliveryState::Delivered => "delivered",
            DeliveryState::Failed => "failed",
            DeliveryState::Digested => "digested",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<DeliveryState> {
        [DeliveryState::Queued, DeliveryState::Delivered, DeliveryState::Failed, DeliveryState::Digested]
            .into_iter()
            .find(|state| state.as_str() == word)
    }
}
