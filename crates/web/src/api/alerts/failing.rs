//! Finds the channels that do not deliver, by the newest attempt through each.

use std::collections::{HashMap, HashSet};

use model::{ChannelId, DeliveryState};
use store::{DeliveryFilter, PageRequest};

use crate::app::App;
use crate::problem::Problem;

/// The most alerts that are read, the newest first.
const READ: u32 = 200;

/// The channels through which the newest tried alert did not arrive, each with the answer of its
/// target.
pub(super) async fn answers(app: &App) -> Result<HashMap<ChannelId, String>, Problem> {
    let page = PageRequest { limit: READ, cursor: None };
    let tried = app.web().store.deliveries(&DeliveryFilter::default(), &page).await?.items;
    let mut seen = HashSet::new();
    // Only deliveries with an attempt count, and of those the newest.
    let newest = tried.into_iter().filter(|delivery| !delivery.attempts.is_empty() && seen.insert(delivery.channel));
    let failed = newest.filter(|delivery| delivery.state != DeliveryState::Delivered).filter_map(|delivery| {
        let attempt = delivery.attempts.last()?;
        let status = attempt.status.map(|status| format!("{status} ")).unwrap_or_default();
        Some((delivery.channel, format!("{status}{}", attempt.answer).trim().to_owned()))
    });
    Ok(failed.collect())
}
