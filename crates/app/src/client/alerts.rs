//! Channels and deliveries as the API answers them.

use serde::Deserialize;

use super::Client;
use crate::exit::Failure;

/// The fields of a channel that are shown.
#[derive(Deserialize)]
pub(crate) struct Channel {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) enabled: bool,
    pub(crate) disabled_reason: Option<String>,
    pub(crate) failing: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) to: Option<Vec<String>>,
    pub(crate) chat_id: Option<String>,
}

/// The fields of a delivery that are shown.
#[derive(Deserialize)]
pub(crate) struct Delivery {
    pub(crate) channel: String,
    pub(crate) kind: String,
    pub(crate) state: String,
    pub(crate) timestamp: model::Timestamp,
    pub(crate) reason: Option<String>,
    pub(crate) digest_id: Option<String>,
    pub(crate) attempts: Vec<Attempt>,
}

/// One attempt.
#[derive(Deserialize)]
pub(crate) struct Attempt {
    pub(crate) timestamp: model::Timestamp,
    pub(crate) took_ms: u64,
    pub(crate) status_code: Option<u16>,
    pub(crate) answer: String,
}

impl Attempt {
    /// The answer in one line.
    pub(crate) fn words(&self) -> String {
        match self.status_code {
            Some(status) => format!("{status} {}", self.answer).trim_end().to_owned(),
            None => self.answer.clone(),
        }
    }
}

/// All channels of the server.
pub(crate) async fn channels(client: &Client) -> Result<Vec<Channel>, Failure> {
    let items = client.items("/api/channels").await?;
    items.iter().map(|item| super::read(item.get())).collect()
}
