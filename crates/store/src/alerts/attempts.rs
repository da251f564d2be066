//! Attempts to deliver an alert, and their outcome.

use model::{ChannelId, DeliveryId, DeliveryState, Timestamp};

use crate::StoreError;
use crate::columns::{invalid, signed};
use crate::database::{self, Connection, dialect};

/// One attempt and what it means for the delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub took_ms: u64,
    /// The HTTP status of the answer, if the channel has one.
    pub status: Option<u16>,
    /// The answer, or what went wrong.
    pub answer: String,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The target accepted it.
    Delivered,
    /// It is tried again at this time.
    Again(Timestamp),
    /// It is not tried again.
    GivenUp,
    /// The target is gone for good: nothing more is sent there.
    Gone,
}

/// Records an attempt. `NotFound` if the delivery was deleted.
pub(super) async fn record(
    transaction: &mut Connection<'_>,
    delivery: DeliveryId,
    attempt: &Attempt,
) -> Result<(), crate::error::Failure> {
    let id = delivery.to_string();
    let channel: Option<String> = database::query_scalar("select channel_id from deliveries where id = $1")
        .bind(&id)
        .fetch_optional(&mut *transaction)
        .await?;
    let Some(channel) = channel else { return Err(StoreError::NotFound.into()) };
    insert(transaction, &id, attempt).await?;
    let finished = attempt.at.as_millis() + signed(attempt.took_ms);
    match attempt.outcome {
        Outcome::Delivered => finish(transaction, &id, DeliveryState::Delivered, None, finished).await?,
        Outcome::Again(due) => postpone(transaction, &id, due).await?,
        Outcome::GivenUp => finish(transaction, &id, DeliveryState::Failed, Some(&reason(attempt)), finished).await?,
        Outcome::Gone => {
            finish(transaction, &id, DeliveryState::Failed, Some(&reason(attempt)), finished).await?;
            let channel = ChannelId::parse(&channel).ok_or_else(|| invalid("channel_id"))?;
            disable(transaction, channel, Timestamp::from_millis(finished)).await?;
        }
    }
    Ok(())
}

/// Why it is given up: the status and the answer.
fn reason(Attempt { status, answer, .. }: &Attempt) -> String {
    match status {
        None => answer.clone(),
        Some(status) if answer.is_empty() => format!("status {status}"),
        Some(status) => format!("status {status}: {answer}"),
    }
}

async fn insert(transaction: &mut Connection<'_>, id: &str, attempt: &Attempt) -> Result<(), sqlx::Error> {
    database::query(
        "insert into delivery_attempts (delivery_id, position, timestamp, took_ms, delivered, status_code, answer)
         select $1, count(*), $2, $3, $4, $5, $6 from delivery_attempts where delivery_id = $1",
    )
    .bind(id)
    .bind(attempt.at.as_millis())
    .bind(signed(attempt.took_ms))
    .bind(attempt.outcome == Outcome::Delivered)
    .bind(attempt.status)
    .bind(&attempt.answer)
    .execute(transaction)
    .await
    .map(drop)
}

async fn finish(
    transaction: &mut Connection<'_>,
    id: &str,
    state: DeliveryState,
    reason: Option<&str>,
    at: i64,
) -> Result<(), sqlx::Error> {
    // It arrived even if it was given up meanwhile because its channel was deleted.
    database::query("update deliveries set state = $1, reason = $2, finished_at = $3, tries = tries + 1 where id = $4")
        .bind(state.as_str())
        .bind(reason)
        .bind(at)
        .bind(id)
        .execute(transaction)
        .await
        .map(drop)
}

async fn postpone(transaction: &mut Connection<'_>, id: &str, due: Timestamp) -> Result<(), sqlx::Error> {
    database::query(concat!(
        "update deliveries set due_at = $1, tries = tries + 1",
        dialect::end_lease!(),
        " where id = $2 and state = $3"
    ))
    .bind(due.as_millis())
    .bind(id)
    .bind(DeliveryState::Queued.as_str())
    .execute(transaction)
    .await
    .map(drop)
}

/// Switches a channel off because its target is gone.
async fn disable(transaction: &mut Connection<'_>, channel: ChannelId, at: Timestamp) -> Result<(), sqlx::Error> {
    database::query("update channels set enabled = 0, disabled_reason = $1 where id = $2")
        .bind("its target answered 410 Gone")
        .bind(channel.to_string())
        .execute(&mut *transaction)
        .await?;
    give_up_queued(transaction, channel, "the target of the channel is gone", at).await
}

/// Gives up all deliveries that are queued for a channel.
pub(super) async fn give_up_queued(
    transaction: &mut Connection<'_>,
    channel: ChannelId,
    reason: &str,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    database::query(
        "update deliveries set state = $1, reason = $2, finished_at = $3 where channel_id = $4 and state = $5",
    )
    .bind(DeliveryState::Failed.as_str())
    .bind(reason)
    .bind(at.as_millis())
    .bind(channel.to_string())
    .bind(DeliveryState::Queued.as_str())
    .execute(transaction)
    .await
    .map(drop)
}
