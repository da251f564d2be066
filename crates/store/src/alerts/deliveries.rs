//! Deliveries: the queue, and the history with every attempt.

use std::collections::HashMap;

use model::{
    AgentId, AlertData, AlertType, ChannelId, ChannelKind, DeliveryId, DeliveryState, IncidentId, RuleId, Timestamp,
};

use crate::columns::{self, invalid, unsigned};
use crate::database::{self, Connection, Pool, QueryBuilder, Row, dialect};
use crate::{Page, PageRequest, Store, StoreError, postgres};

/// How long one server has a delivery to itself: longer than an attempt and its record take.
const LEASE_MS: i64 = 60_000;

/// How many deliveries are deleted at a time.
const SWEPT: i64 = 500;

/// One alert to one channel.
#[derive(Clone, Debug)]
pub struct DeliveryRow {
    /// Its id, the same on every attempt.
    pub id: DeliveryId,
    /// The channel.
    pub channel: ChannelId,
    /// The channel's name when it was queued.
    pub channel_name: String,
    /// The channel's kind.
    pub channel_kind: ChannelKind,
    /// The rule; `None` for the built-in rule, a test or a digest.
    pub rule: Option<RuleId>,
    /// What it is about.
    pub alert_type: AlertType,
    /// The agent it is about.
    pub agent: Option<AgentId>,
    /// The incident it is about.
    pub incident: Option<IncidentId>,
    /// Its content; `None` if it cannot be read.
    pub data: Option<AlertData>,
    /// Its state.
    pub state: DeliveryState,
    /// When it was queued.
    pub queued_at: Timestamp,
    /// When it is tried next.
    pub due_at: Timestamp,
    /// The number of attempts since it was queued.
    pub tries: u64,
    /// When it was delivered or given up.
    pub finished_at: Option<Timestamp>,
    /// Why it was given up.
    pub reason: Option<String>,
    /// The window in which it waits to be sent with others.
    pub waits_in: Option<Timestamp>,
    /// The digest that contains it.
    pub digest: Option<DeliveryId>,
    /// Every attempt, oldest first; only read for the history.
    pub attempts: Vec<AttemptRow>,
}

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRow {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub took_ms: u64,
    /// Whether the target accepted it.
    pub delivered: bool,
    /// The HTTP status of the answer, if the channel has one.
    pub status: Option<u16>,
    /// The answer, or what went wrong.
    pub answer: String,
}

/// Filters deliveries.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "each names the field it compares")]
pub struct DeliveryFilter {
    pub agent: Option<AgentId>,
    pub channel: Option<ChannelId>,
    pub incident: Option<IncidentId>,
    pub state: Option<DeliveryState>,
    /// Leaves out alerts that are in a digest.
    pub without_digested: bool,
}

impl Store {
    /// A page of the history, newest first.
    pub async fn deliveries(
        &self,
        filter: &DeliveryFilter,
        page: &PageRequest,
    ) -> Result<Page<DeliveryRow>, StoreError> {
        let mut query = QueryBuilder::new("select * from deliveries where true");
        let conditions = [
            (" and agent_id = ", filter.agent.as_ref().map(AgentId::to_string)),
            (" and channel_id = ", filter.channel.map(|channel| channel.to_string())),
            (" and incident_id = ", filter.incident.map(|incident| incident.to_string())),
            (" and state = ", filter.state.map(|state| state.as_str().to_owned())),
            (" and id < ", page.after()?),
        ];
        for (condition, value) in conditions {
            if let Some(value) = value {
                query.push(condition).push_bind(value);
            }
        }
        if filter.without_digested {
            query.push(" and state <> ").push_bind(DeliveryState::Digested.as_str());
        }
        query.push(" order by id desc limit ").push_bind(page.rows());
        // One transaction for both queries, so that state and attempts agree.
        let mut transaction = self.readers.begin().await?;
        let mut snapshot = transaction.connection();
        let rows = query.build().try_map(delivery_row).fetch_all(&mut snapshot).await?;
        let mut page = Page::of(rows, page, |delivery| delivery.id.to_string());
        read_attempts(&mut snapshot, &mut page.items).await?;
        Ok(page)
    }

    /// One delivery.
    pub async fn delivery(&self, id: DeliveryId) -> Result<Option<DeliveryRow>, StoreError> {
        let query = database::query("select * from deliveries where id = $1").bind(id.to_string());
        let mut transaction = self.readers.begin().await?;
        let mut snapshot = transaction.connection();
        let mut found: Vec<_> = query.try_map(delivery_row).fetch_all(&mut snapshot).await?;
        read_attempts(&mut snapshot, &mut found).await?;
        Ok(found.pop())
    }

    /// The channels with deliveries that are due at `now`.
    pub async fn channels_due(&self, now: Timestamp) -> Result<Vec<ChannelId>, StoreError> {
        let query = concat!(
            "select distinct channel_id from deliveries where state = 'queued' and due_at <= $1",
            dialect::not_leased!()
        );
        let ids: Vec<String> = database::query_scalar(query).bind(now.as_millis()).fetch_all(&self.readers).await?;
        Ok(ids.iter().filter_map(|id| ChannelId::parse(id)).collect())
    }

    /// The deliveries that are due for a channel at `now`: the `limit` that have waited longest.
    pub async fn due(&self, channel: ChannelId, now: Timestamp, limit: usize) -> Result<Vec<DeliveryRow>, StoreError> {
        let query = database::query(concat!(
            "select * from deliveries where channel_id = $1 and state = 'queued' and due_at <= $2",
            dialect::not_leased!(),
            " order by due_at, id limit $3"
        ));
        let query = query.bind(channel.to_string()).bind(now.as_millis()).bind(columns::signed(limit as u64));
        Ok(query.try_map(delivery_row).fetch_all(&self.readers).await?)
    }

    /// Takes deliveries that are due, so that no other server sends them meanwhile: those that
    /// another one took first are left out. After a minute any server may take them again.
    pub async fn lease(&self, mut deliveries: Vec<DeliveryRow>) -> Result<Vec<DeliveryRow>, StoreError> {
        let Pool::Postgres(pool) = &self.readers else { return Ok(deliveries) };
        if !self.is_shared() || deliveries.is_empty() {
            return Ok(deliveries);
        }
        let ids = deliveries.iter().map(|delivery| delivery.id.to_string()).collect();
        let leased = postgres::lease_deliveries(pool, ids, self.writer(), LEASE_MS).await?;
        deliveries.retain(|delivery| leased.contains(&delivery.id.to_string()));
        Ok(deliveries)
    }

    /// Takes work that one server does for all, like the evaluation of rules, for some time.
    /// `false` if another server has it.
    pub async fn claim_work(&self, name: &str, millis: i64) -> Result<bool, StoreError> {
        match &self.readers {
            Pool::Postgres(pool) if self.is_shared() => {
                Ok(postgres::claim_work(pool, name, self.writer(), millis).await?)
            }
            _ => Ok(true),
        }
    }

    /// When the newest queued delivery was queued.
    pub async fn newest_queued(&self) -> Result<Option<Timestamp>, StoreError> {
        let query = "select max(queued_at) from deliveries where state = 'queued'";
        let newest: Option<i64> = database::query_scalar(query).fetch_one(&self.readers).await?;
        Ok(newest.map(Timestamp::from_millis))
    }

    /// When the next delivery is due, after `now`.
    pub async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let query = "select min(due_at) from deliveries where state = 'queued' and due_at > $1";
        let due: Option<i64> = database::query_scalar(query).bind(now.as_millis()).fetch_one(&self.readers).await?;
        Ok(due.map(Timestamp::from_millis))
    }
}

/// Moves due times after the clock was set back.
pub(super) async fn follow_clock(
    transaction: &mut Connection<'_>,
    by_ms: u64,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    let query = database::query(
        "update deliveries set due_at = case when due_at - $2 > $1 then due_at - $2 else $1 end
         where state = 'queued' and due_at > $1",
    );
    query.bind(now.as_millis()).bind(columns::signed(by_ms)).execute(transaction).await.map(drop)
}

async fn read_attempts(snapshot: &mut Connection<'_>, deliveries: &mut [DeliveryRow]) -> Result<(), StoreError> {
    if deliveries.is_empty() {
        return Ok(());
    }
    let mut query = QueryBuilder::new("select * from delivery_attempts where delivery_id in (");
    let mut ids = query.separated(", ");
    for delivery in deliveries.iter() {
        ids.push_bind(delivery.id.to_string());
    }
    query.push(") order by delivery_id, position");
    let mut attempts: HashMap<String, Vec<AttemptRow>> = HashMap::new();
    for (id, attempt) in query.build().try_map(attempt_row).fetch_all(snapshot).await? {
        attempts.entry(id).or_default().push(attempt);
    }
    for delivery in deliveries {
        delivery.attempts = attempts.remove(&delivery.id.to_string()).unwrap_or_default();
    }
    Ok(())
}

/// Queues a failed delivery again. `false` if it has not failed, or its channel is off or gone.
pub(super) async fn retry(
    transaction: &mut Connection<'_>,
    id: DeliveryId,
    at: Timestamp,
) -> Result<bool, sqlx::Error> {
    let updated = database::query(
        "update deliveries set state = 'queued', due_at = $1, tries = 0, finished_at = null, reason = null
         where id = $2 and state = 'failed' and channel_id in (select id from channels where enabled = 1)",
    )
    .bind(at.as_millis())
    .bind(id.to_string())
    .execute(transaction)
    .await?;
    Ok(updated.rows_affected() == 1)
}

/// Deletes a few of the oldest deliveries that ended before `before`, and says whether there may be
/// more.
pub(crate) async fn sweep(transaction: &mut Connection<'_>, before: i64) -> Result<bool, sqlx::Error> {
    let deleted = database::query(
        "delete from deliveries where id in (
            select id from (select id, finished_at from deliveries order by id limit $2) as oldest where finished_at < $1)",
    )
    .bind(before)
    .bind(SWEPT)
    .execute(transaction)
    .await?;
    Ok(deleted.rows_affected() > 0)
}

pub(super) fn delivery_row(row: Row) -> Result<DeliveryRow, sqlx::Error> {
    let id = |column: &'static str| -> Result<Option<&str>, sqlx::Error> { row.try_get(column) };
    let alert_type = AlertType::parse(row.try_get("alert_type")?).ok_or_else(|| invalid("alert_type"))?;
    let waits: bool = row.try_get("waits")?;
    let tries = row.try_get("tries").map(unsigned)?;
    let agent = id("agent_id")?.map(|agent| AgentId::parse(agent).map_err(|_| invalid("agent_id")));
    Ok(DeliveryRow {
        id: id("id")?.and_then(DeliveryId::parse).ok_or_else(|| invalid("id"))?,
        channel: id("channel_id")?.and_then(ChannelId::parse).ok_or_else(|| invalid("channel_id"))?,
        channel_name: row.try_get("channel_name")?,
        channel_kind: ChannelKind::parse(row.try_get("channel_kind")?).ok_or_else(|| invalid("channel_kind"))?,
        rule: id("rule_id")?.and_then(RuleId::parse),
        alert_type,
        agent: agent.transpose()?,
        incident: columns::incident_id(&row, "incident_id")?,
        data: AlertData::parse(alert_type, row.try_get("data")?),
        state: DeliveryState::parse(row.try_get("state")?).ok_or_else(|| invalid("state"))?,
        queued_at: columns::timestamp(&row, "queued_at")?,
        due_at: columns::timestamp(&row, "due_at")?,
        tries,
        finished_at: columns::maybe_timestamp(&row, "finished_at")?,
        reason: row.try_get("reason")?,
        waits_in: columns::maybe_timestamp(&row, "window_opened_at")?.filter(|_| waits && tries == 0),
        digest: id("digest_id")?.and_then(DeliveryId::parse),
        attempts: Vec::new(),
    })
}

fn attempt_row(row: Row) -> Result<(String, AttemptRow), sqlx::Error> {
    let attempt = AttemptRow {
        at: columns::timestamp(&row, "timestamp")?,
        took_ms: row.try_get("took_ms").map(unsigned)?,
        delivered: row.try_get("delivered")?,
        status: row.try_get("status_code")?,
        answer: row.try_get("answer")?,
    };
    Ok((row.try_get("delivery_id")?, attempt))
}
