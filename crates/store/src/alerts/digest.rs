//! Combines the alerts that wait in a window into one digest.

use model::{AlertData, AlertType, ChannelId, DeliveryId, DigestLine, Timestamp};

use super::deliveries::{DeliveryRow, delivery_row};
use super::outbox::{self, NewAlert, Schedule};
use crate::database::{self, Connection, dialect};

/// The most lines of a digest: receivers limit the size of a webhook's body.
const MAX_LINES: usize = 50;

/// Makes one digest if more than one alert waits in a window. Its lines are all alerts of the
/// window, including the one that was sent at once.
pub(super) async fn make(
    transaction: &mut Connection<'_>,
    channel_id: ChannelId,
    window: Timestamp,
    digest: DeliveryId,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    // This locks the channel first: of several servers, the second one then finds the digest of the
    // first.
    let channel = outbox::lock_channel(transaction, channel_id).await?;
    let query = database::query(concat!(
        "select * from deliveries where channel_id = $1 and window_opened_at = $2",
        dialect::not_leased!(),
        " order by queued_at, id"
    ));
    let query = query.bind(channel_id.to_string()).bind(window.as_millis());
    let alerts = query.try_map(delivery_row).fetch_all(&mut *transaction).await?;
    let waiting = alerts.iter().filter(|alert| alert.waits_in.is_some() && alert.digest.is_none()).count();
    let Some(channel) = channel.filter(|_| waiting > 1) else { return Ok(()) };

    let lines = alerts.iter().take(MAX_LINES).map(line).collect();
    let data = AlertData::Digest { count: alerts.len() as u64, alerts: lines };
    let alert = NewAlert { alert_type: AlertType::Digest, data: &data, at, repeat: 0 };
    outbox::insert(transaction, digest, &channel, &alert, (None, Schedule::alone(at))).await?;
    database::query(concat!(
        "update deliveries set state = 'digested', digest_id = $1, finished_at = $2
         where channel_id = $3 and window_opened_at = $4 and waits = 1 and state = 'queued' and tries = 0",
        dialect::not_leased!()
    ))
    .bind(digest.to_string())
    .bind(at.as_millis())
    .bind(channel_id.to_string())
    .bind(window.as_millis())
    .execute(transaction)
    .await
    .map(drop)
}

fn line(alert: &DeliveryRow) -> DigestLine {
    DigestLine {
        alert_type: alert.alert_type.as_str().to_owned(),
        timestamp: alert.queued_at,
        agent_id: alert.agent.clone(),
        incident_id: alert.incident,
        summary: alert.data.as_ref().map(AlertData::summary).unwrap_or_default(),
    }
}
