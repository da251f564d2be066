//! The notifications of an incident: through which channel, when, and whether each arrived.

use model::{DeliveryState, IncidentId, Timestamp};
use store::{DeliveryFilter, DeliveryRow, PageRequest};

use crate::app::App;
use crate::pages::number::Moment;
use crate::pages::plain::cut;
use crate::pages::words::alerts as words;
use crate::problem::Problem;

/// The most alerts that are listed, the newest first.
const SHOWN: u32 = 20;
const NAME_LENGTH: usize = 100;

/// One alert about the incident.
pub(super) struct NotificationLine {
    pub(super) channel: String,
    pub(super) state: &'static str,
    pub(super) tone: &'static str,
    has_arrived: bool,
    /// Whether it was given up.
    has_failed: bool,
    /// When it arrived or was given up; otherwise when it was queued.
    pub(super) at: Moment,
}

pub(super) async fn read(app: &App, incident: IncidentId, now: Timestamp) -> Result<Vec<NotificationLine>, Problem> {
    let filter = DeliveryFilter { incident: Some(incident), ..DeliveryFilter::default() };
    let sent = app.web().store.deliveries(&filter, &PageRequest { limit: SHOWN, cursor: None }).await?;
    let mut lines = Vec::with_capacity(sent.items.len());
    for delivery in sent.items {
        let digest = match delivery.digest {
            Some(digest) => app.web().store.delivery(digest).await?,
            None => None,
        };
        lines.push(line(&delivery, digest.as_ref(), now));
    }
    Ok(lines)
}

/// Whether one of these alerts arrived.
pub(super) fn arrived(lines: &[NotificationLine]) -> bool {
    lines.iter().any(|line| line.has_arrived)
}

/// Whether all of these alerts have failed.
pub(super) fn all_failed(lines: &[NotificationLine]) -> bool {
    lines.iter().all(|line| line.has_failed)
}

/// The line of an alert. An alert in a digest arrives if the digest does.
fn line(delivery: &DeliveryRow, digest: Option<&DeliveryRow>, now: Timestamp) -> NotificationLine {
    let (state, tone) = match digest {
        Some(digest) => words::delivery_in_digest(digest.state, !digest.attempts.is_empty()),
        None => words::delivery(delivery.state, !delivery.attempts.is_empty()),
    };
    let sent = digest.unwrap_or(delivery);
    let at = Moment::new(sent.finished_at.unwrap_or(sent.queued_at), now);
    let (has_arrived, has_failed) = (sent.state == DeliveryState::Delivered, sent.state == DeliveryState::Failed);
    NotificationLine { channel: cut(&delivery.channel_name, NAME_LENGTH), state, tone, has_arrived, has_failed, at }
}
