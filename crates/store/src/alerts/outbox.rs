//! The outbox: an alert is queued in the transaction of its cause, so that neither exists without
//! the other.

use model::{
    AgentId, AlertData, AlertRule, AlertType, ChannelId, DeliveryId, DeliveryState, Groups, Incident, IncidentState,
    LoopData, RecoveredData, RuleId, RuleType, Timestamp,
};

use super::rules::DEFAULT_RULE;
use super::states::AlertState;
use super::{rules, states};
use crate::Grouping;
use crate::columns::{self, invalid, signed};
use crate::database::{self, Connection, Row, dialect};

/// An alert to queue.
pub(super) struct NewAlert<'a> {
    pub(super) alert_type: AlertType,
    pub(super) data: &'a AlertData,
    pub(super) at: Timestamp,
    /// How often it was sent before.
    pub(super) repeat: u64,
}

/// The part of a channel that the outbox needs.
pub(super) struct OutboxChannel {
    pub(super) id: ChannelId,
    pub(super) name: String,
    kind: String,
    window_opened_at: Option<Timestamp>,
}

/// Queues the alerts of an incident. A kill always alerts, even right after another one; the
/// cooldown of a rule holds for observed incidents only.
pub(crate) async fn queue_incident(
    transaction: &mut Connection<'_>,
    incident: &Incident,
    (grouping, groups): (Grouping, &Groups),
) -> Result<(), sqlx::Error> {
    let kill = &incident.kill;
    let observed = incident.state == IncidentState::Observed;
    let data = AlertData::Loop(LoopData::of(incident));
    let alert_type = if observed { AlertType::Observed } else { AlertType::Killed };
    let alert = NewAlert { alert_type, data: &data, at: kill.at, repeat: 0 };
    for rule in rules::about_kills(transaction, &kill.agent, groups).await? {
        let before = states::get(transaction, rule.id, &kill.agent).await?;
        if observed && before.is_some_and(|state| is_in_cooldown(&rule, state.told_at, kill.at)) {
            continue;
        }
        queue(transaction, &rule, &alert, grouping).await?;
        let state = AlertState {
            rule: rule.id,
            agent: kill.agent.clone(),
            firing: !observed,
            since: kill.at,
            told_at: kill.at,
            incident: (!observed).then_some(kill.incident),
            repeats: 0,
        };
        states::put(transaction, &state).await?;
    }
    Ok(())
}

fn is_in_cooldown(rule: &AlertRule, told_at: Timestamp, now: Timestamp) -> bool {
    now.millis_since(told_at) < u64::from(rule.cooldown_minutes) * 60_000
}

/// Queues the alerts for the activation of a killed agent.
pub(crate) async fn queue_activation(
    transaction: &mut Connection<'_>,
    agent: &AgentId,
    at: Timestamp,
    grouping: Grouping,
) -> Result<(), sqlx::Error> {
    for state in states::of_killed(transaction, agent).await? {
        let AlertState { rule, since, incident: incident_id, .. } = state;
        states::put(transaction, &AlertState { firing: false, incident: None, ..state }).await?;
        let rule = rules::get(transaction, rule).await?.filter(|rule| rule.enabled && rule.notify_recovery);
        let Some(rule) = rule else { continue };
        let data = RecoveredData { agent_id: agent.clone(), rule_type: RuleType::KillSwitch, since, incident_id };
        let data = AlertData::Recovered(data);
        let alert = NewAlert { alert_type: AlertType::Recovered, data: &data, at, repeat: 0 };
        queue(transaction, &rule, &alert, grouping).await?;
    }
    Ok(())
}

/// Queues an alert for each channel of a rule.
pub(super) async fn queue(
    transaction: &mut Connection<'_>,
    rule: &AlertRule,
    alert: &NewAlert<'_>,
    grouping: Grouping,
) -> Result<(), sqlx::Error> {
    let enabled_channels = enabled_channels(transaction).await?;
    for channel in
        enabled_channels.iter().filter(|channel| rule.channels.is_empty() || rule.channels.contains(&channel.id))
    {
        let schedule = Schedule::find(transaction, channel, alert.at, grouping).await?;
        if insert(transaction, DeliveryId::new(), channel, alert, (Some(rule.id), schedule)).await? {
            schedule.apply(transaction, channel).await?;
        }
    }
    Ok(())
}

/// The channels that are switched on.
async fn enabled_channels(transaction: &mut Connection<'_>) -> Result<Vec<OutboxChannel>, sqlx::Error> {
    // This locks the channels: only one server at a time decides which alert opens a window.
    let query = database::query(concat!(
        "select id, name, kind, window_opened_at from channels where enabled = 1 order by id",
        dialect::for_update!()
    ));
    query.try_map(channel_row).fetch_all(transaction).await
}

/// One channel, whether it is switched on or not. No other server queues anything for it until the
/// commit.
pub(super) async fn lock_channel(
    transaction: &mut Connection<'_>,
    id: ChannelId,
) -> Result<Option<OutboxChannel>, sqlx::Error> {
    let query = database::query(concat!(
        "select id, name, kind, window_opened_at from channels where id = $1",
        dialect::for_update!()
    ));
    let query = query.bind(id.to_string());
    query.try_map(channel_row).fetch_optional(transaction).await
}

/// Queues one delivery; `false` if the same cause was queued for this channel before.
pub(super) async fn insert(
    transaction: &mut Connection<'_>,
    id: DeliveryId,
    channel: &OutboxChannel,
    alert: &NewAlert<'_>,
    (rule, schedule): (Option<RuleId>, Schedule),
) -> Result<bool, sqlx::Error> {
    let inserted = database::query(
        "insert into deliveries (id, channel_id, channel_name, channel_kind, rule_id, alert_type, agent_id, incident_id,
            repeat, data, state, queued_at, due_at, window_opened_at, waits)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) on conflict do nothing",
    )
    .bind(id.to_string())
    .bind(channel.id.to_string())
    .bind(&channel.name)
    .bind(&channel.kind)
    .bind(rule.filter(|rule| *rule != DEFAULT_RULE).map(|rule| rule.to_string()))
    .bind(alert.alert_type.as_str())
    .bind(alert.data.agent().map(AgentId::as_str))
    .bind(alert.data.incident().map(|incident| incident.to_string()))
    .bind(signed(alert.repeat))
    .bind(serde_json::to_string(alert.data).unwrap_or_default())
    .bind(DeliveryState::Queued.as_str())
    .bind(alert.at.as_millis())
    .bind(schedule.due.as_millis())
    .bind(schedule.window.map(Timestamp::as_millis))
    .bind(schedule.waits)
    .execute(transaction)
    .await?;
    Ok(inserted.rows_affected() == 1)
}

/// When an alert is due, and in which window.
#[derive(Clone, Copy)]
pub(super) struct Schedule {
    due: Timestamp,
    window: Option<Timestamp>,
    waits: bool,
}

impl Schedule {
    /// At once and alone.
    pub(super) fn alone(due: Timestamp) -> Schedule {
        Schedule { due, window: None, waits: false }
    }

    async fn find(
        transaction: &mut Connection<'_>,
        channel: &OutboxChannel,
        at: Timestamp,
        grouping: Grouping,
    ) -> Result<Schedule, sqlx::Error> {
        let length = millis(grouping.window);
        // Kills that are decided together may arrive in another order.
        let open = channel.window_opened_at.filter(|opened| (at.as_millis() - opened.as_millis()).abs() < length);
        let Some(opened) = open else {
            return Ok(Schedule { due: at, window: (length > 0).then_some(at), waits: false });
        };
        let told: Option<i64> = database::query_scalar(
            "select 1 from deliveries where channel_id = $1 and window_opened_at = $2 and waits = 1
             and (state <> 'queued' or tries > 0) limit 1",
        )
        .bind(channel.id.to_string())
        .bind(opened.as_millis())
        .fetch_optional(transaction)
        .await?;
        let end = opened.as_millis() + length;
        let quiet = at.as_millis() + millis(grouping.quiet);
        let due = if told.is_some() { end } else { quiet.min(end) };
        Ok(Schedule { due: Timestamp::from_millis(due), window: Some(opened), waits: true })
    }

    /// Opens the window, or makes the alerts that wait in it due with this one.
    async fn apply(self, transaction: &mut Connection<'_>, channel: &OutboxChannel) -> Result<(), sqlx::Error> {
        let Some(window) = self.window else { return Ok(()) };
        let query = match self.waits {
            true => database::query(
                "update deliveries set due_at = $1 where channel_id = $2 and window_opened_at = $3 and waits = 1
                 and state = 'queued' and tries = 0",
            )
            .bind(self.due.as_millis()),
            false => database::query("update channels set window_opened_at = $2 where id = $1"),
        };
        query.bind(channel.id.to_string()).bind(window.as_millis()).execute(transaction).await.map(drop)
    }
}

fn millis(duration: std::time::Duration) -> i64 {
    signed(duration.as_millis().try_into().unwrap_or(u64::MAX))
}

fn channel_row(row: Row) -> Result<OutboxChannel, sqlx::Error> {
    Ok(OutboxChannel {
        id: ChannelId::parse(row.try_get("id")?).ok_or_else(|| invalid("id"))?,
        name: row.try_get("name")?,
        kind: row.try_get("kind")?,
        window_opened_at: columns::maybe_timestamp(&row, "window_opened_at")?,
    })
}
