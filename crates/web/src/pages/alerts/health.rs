//! Which channels do not deliver, by what became of the newest alert that was tried through each.

use std::collections::HashSet;

use model::{ChannelId, DeliveryState};
use store::{DeliveryFilter, PageRequest};

use crate::app::App;
use crate::pages::plain::cut;
use crate::problem::Problem;

/// How many alerts are looked at, the newest first.
const READ: u32 = 200;
/// What a target answers may be long.
const ANSWER_LENGTH: usize = 120;

/// A channel whose newest alert did not arrive, or whose target is gone.
pub(in crate::pages) struct FailingChannel {
    pub(in crate::pages) id: ChannelId,
    pub(in crate::pages) name: String,
    pub(in crate::pages) enabled: bool,
    /// What was answered, or why it was switched off.
    pub(in crate::pages) why: String,
}

/// The channels that do not deliver, by name.
pub(in crate::pages) async fn failing_channels(app: &App) -> Result<Vec<FailingChannel>, Problem> {
    let channels = app.web().store.channels().await?;
    if channels.is_empty() {
        return Ok(Vec::new());
    }
    let page = PageRequest { limit: READ, cursor: None };
    let tried = app.web().store.deliveries(&DeliveryFilter::default(), &page).await?.items;
    let mut seen = HashSet::new();
    // Only what was tried says something, and of that the newest.
    let newest = tried.into_iter().filter(|delivery| !delivery.attempts.is_empty() && seen.insert(delivery.channel));
    let failed: Vec<_> = newest.filter(|delivery| delivery.state != DeliveryState::Delivered).collect();
    let failing = channels.into_iter().filter_map(|channel| {
        let failed = failed.iter().find(|delivery| delivery.channel == channel.id).filter(|_| channel.enabled);
        let answer = failed.and_then(|delivery| delivery.attempts.last()).map(|attempt| {
            let status = attempt.status.map(|status| format!("{status} ")).unwrap_or_default();
            format!("{status}{}", attempt.answer)
        });
        let why = answer.or(channel.disabled_reason)?;
        Some(FailingChannel {
            id: channel.id,
            name: cut(&channel.name, ANSWER_LENGTH),
            enabled: channel.enabled,
            why: cut(why.trim(), ANSWER_LENGTH),
        })
    });
    Ok(failing.collect())
}
