//! Makes the changes of alerts, each inside the writer's transaction.

use model::{AlertData, AlertRule, AlertType, ChannelId, DeliveryId, Timestamp};

use super::outbox::{self, NewAlert, Schedule};
use super::states::{self, AlertState};
use super::{AlertChange, AlertTransition, Transition, attempts, channels, deliveries, digest, rules};
use crate::database::{self, Connection, Lock};
use crate::error::Failure;
use crate::{Store, StoreError};

/// Makes `change`.
pub(crate) async fn apply(
    transaction: &mut Connection<'_>,
    change: &AlertChange,
    store: &Store,
) -> Result<(), Failure> {
    match change {
        AlertChange::PutChannel { channel } => channels::put(transaction, channel, &store.keys).await,
        AlertChange::RemoveChannel { channel, at } => channels::remove(transaction, *channel, *at).await,
        AlertChange::PutRule { rule } => put_rule(transaction, rule).await,
        AlertChange::RemoveRule { rule } => or_not_found(rules::remove(transaction, *rule).await?),
        AlertChange::Test { channel, delivery, at } => queue_test(transaction, *channel, *delivery, *at).await,
        AlertChange::Retry { delivery, at } => retry(transaction, *delivery, *at).await,
        AlertChange::Attempted { delivery, attempt } => attempts::record(transaction, *delivery, attempt).await,
        AlertChange::Digest { channel, window_opened_at, digest, at } => {
            Ok(digest::make(transaction, *channel, *window_opened_at, *digest, *at).await?)
        }
        AlertChange::ClockSetBack { by_ms, now } => Ok(deliveries::follow_clock(transaction, *by_ms, *now).await?),
        AlertChange::Transitions { transitions, at } => {
            database::lock(transaction, Lock::AlertStates).await?;
            for transition in transitions {
                apply_transition(transaction, transition, *at, store).await?;
            }
            Ok(())
        }
    }
}

fn or_not_found(exists: bool) -> Result<(), Failure> {
    if exists { Ok(()) } else { Err(StoreError::NotFound.into()) }
}

async fn put_rule(transaction: &mut Connection<'_>, rule: &AlertRule) -> Result<(), Failure> {
    for channel in &rule.channels {
        if outbox::lock_channel(transaction, *channel).await?.is_none() {
            return Err(StoreError::Conflict(format!("there is no channel {channel}")).into());
        }
    }
    Ok(rules::put(transaction, rule).await?)
}

async fn queue_test(
    transaction: &mut Connection<'_>,
    channel_id: ChannelId,
    delivery: DeliveryId,
    at: Timestamp,
) -> Result<(), Failure> {
    let Some(channel) = outbox::lock_channel(transaction, channel_id).await? else {
        return Err(StoreError::NotFound.into());
    };
    let data = AlertData::Test { channel: channel.name.clone() };
    let alert = NewAlert { alert_type: AlertType::Test, data: &data, at, repeat: 0 };
    outbox::insert(transaction, delivery, &channel, &alert, (None, Schedule::alone(at))).await?;
    Ok(())
}

async fn retry(transaction: &mut Connection<'_>, delivery: DeliveryId, at: Timestamp) -> Result<(), Failure> {
    if deliveries::retry(transaction, delivery, at).await? {
        return Ok(());
    }
    let known: Option<i64> = database::query_scalar("select 1 from deliveries where id = $1")
        .bind(delivery.to_string())
        .fetch_optional(transaction)
        .await?;
    let why = "only what has failed can be tried again, and only while its channel exists and is on";
    Err(known.map_or(StoreError::NotFound, |_| StoreError::Conflict(why.to_owned())).into())
}

/// Applies what a rule found, unless the rule or the state has changed since.
async fn apply_transition(
    transaction: &mut Connection<'_>,
    AlertTransition { rule, agent, transition }: &AlertTransition,
    at: Timestamp,
    store: &Store,
) -> Result<(), sqlx::Error> {
    let Some(rule) = rules::get(transaction, *rule).await?.filter(|rule| rule.enabled) else { return Ok(()) };
    let before = states::get(transaction, rule.id, agent).await?;
    let firing = before.as_ref().is_some_and(|state| state.firing);
    let fresh =
        AlertState { rule: rule.id, agent: agent.clone(), firing, since: at, told_at: at, incident: None, repeats: 0 };
    let before = before.unwrap_or_else(|| fresh.clone());
    let (after, data) = match transition {
        Transition::Begins(data) if !firing => (AlertState { firing: true, ..fresh }, Some(data)),
        Transition::Lasts(data) if firing => {
            (AlertState { told_at: at, repeats: before.repeats + 1, ..before }, Some(data))
        }
        Transition::Ends(data) if firing => (AlertState { firing: false, since: at, ..before }, data.as_ref()),
        _ => return Ok(()),
    };
    states::put(transaction, &after).await?;
    let Some(data) = data else { return Ok(()) };
    let alert = NewAlert { alert_type: type_of(data), data, at, repeat: after.repeats };
    outbox::queue(transaction, &rule, &alert, store.config.grouping).await
}

fn type_of(data: &AlertData) -> AlertType {
    match data {
        AlertData::Loop(_) => AlertType::Killed,
        AlertData::Silence(_) => AlertType::Down,
        AlertData::ErrorRate(_) => AlertType::ErrorRate,
        AlertData::Budget(_) => AlertType::Budget,
        AlertData::Recovered(_) => AlertType::Recovered,
        AlertData::Digest { .. } => AlertType::Digest,
        AlertData::Test { .. } => AlertType::Test,
    }
}
