//! Writes kills and observed incidents, each with its evidence, in transactions that survive a
//! power cut.

mod records;

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, LazyLock};

use model::{
    AgentId, CallId, DeactivatedBy, Epoch, Event, Groups, Incident, IncidentId, MissingBodies, NanoUsd, Record,
    Timestamp,
};
use tokio::sync::watch;

use super::events;
use super::new_agent::NewAgent;
use crate::columns::signed;
use crate::database::{self, BulkInsert, Connection, OnConflict, QueryBuilder, dialect};
use crate::evidence::{self, PackedEvidence};
use crate::{Grouping, Unpriced, alerts, stats};
use model::fingerprint_bytes as fingerprint;

/// A kill or an observed incident that waits to be written.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) incident: Box<Incident>,
    /// The event and the acknowledgement of a kill.
    pub(super) kill: Option<(Arc<Event>, watch::Sender<Option<IncidentId>>)>,
    pub(super) evidence: Vec<PackedEvidence>,
}

impl Pending {
    /// Packs `record`. Bodies are compressed on a blocking thread.
    pub(super) async fn from(record: Record) -> Pending {
        let (mut incident, kill) = match record {
            Record::Kill { incident, event, committed } => (incident, Some((event, committed))),
            Record::Observed { incident } => (incident, None),
        };
        let raw = std::mem::take(&mut incident.evidence);
        let evidence = tokio::task::spawn_blocking(|| evidence::pack(raw)).await.unwrap_or_default();
        Pending { incident, kill, evidence }
    }

    /// Whether its agent was deleted after it was decided.
    pub(super) fn is_of_deleted(&self, deleted: &VecDeque<(AgentId, Timestamp)>) -> bool {
        let kill = &self.incident.kill;
        deleted.iter().any(|(agent, at)| *agent == kill.agent && kill.at <= *at)
    }

    /// How much memory its bodies take.
    pub(super) fn bytes(&self) -> usize {
        self.evidence.iter().map(PackedEvidence::bytes).sum()
    }
}

/// The parts of a record that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordExtent {
    Whole,
    /// Without evidence, because the disk is full.
    WithoutEvidence,
    /// Without the parts that can never be written: the kill holds, and no one is notified.
    Bare,
}

/// What a write needs beside the record itself.
pub(super) struct Context<'a> {
    pub(super) grouping: Grouping,
    pub(super) groups: &'a Groups,
    /// The writer whose sums it is added to.
    pub(super) writer: &'a str,
    /// Earlier events that are not on disk yet.
    pub(super) unwritten: &'a VecDeque<Arc<Event>>,
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It is written.
    Whole,
    /// The agent was already inactive or its epoch was over, so nothing was written. Holds the
    /// incident that ended the epoch, if one did.
    TooLate(Option<IncidentId>),
}

/// Writes one record.
pub(super) async fn write(
    transaction: &mut Connection<'_>,
    pending: &Pending,
    extent: RecordExtent,
    context: &Context<'_>,
) -> Result<Written, sqlx::Error> {
    let kill = &pending.incident.kill;
    let evidence = if extent == RecordExtent::Whole { pending.evidence.as_slice() } else { &[] };
    // The event of the agent's first call may not be written yet.
    let agent = NewAgent { id: &kill.agent, epoch: kill.epoch, kill_switch: &kill.kill_switch, at: kill.at };
    agent.insert(transaction).await?;
    if pending.kill.is_some() {
        if !deactivate(transaction, &pending.incident).await? {
            return first_incident(transaction, &kill.agent, kill.epoch).await.map(Written::TooLate);
        }
        if extent == RecordExtent::Bare {
            insert_incident(transaction, &pending.incident, None, 0).await?;
            return Ok(Written::Whole);
        }
    }
    let cost = cost_of(transaction, &kill.stuck.calls, context.unwritten).await?;
    let is_first = insert_incident(transaction, &pending.incident, cost, evidence.len()).await?;
    if let Some((event, _)) = &pending.kill {
        if !is_first {
            // Another replica recorded the same kill while this one waited for the agent's row.
            return first_incident(transaction, &kill.agent, kill.epoch).await.map(Written::TooLate);
        }
        events::insert(transaction, &[event]).await?;
        // It was not forwarded, so it has no price.
        stats::add(transaction, std::slice::from_ref(event), context.writer, &Unpriced::default()).await?;
    }
    if is_first {
        insert_evidence(transaction, kill.incident, evidence).await?;
        alerts::queue_incident(transaction, &pending.incident, (context.grouping, context.groups)).await?;
    }
    Ok(Written::Whole)
}

/// The incident that ended an epoch.
async fn first_incident(
    transaction: &mut Connection<'_>,
    agent: &AgentId,
    epoch: Epoch,
) -> Result<Option<IncidentId>, sqlx::Error> {
    let query =
        database::query_scalar("select id from incidents where agent_id = $1 and epoch = $2 and state <> 'observed'");
    let id: Option<String> = query.bind(agent.as_str()).bind(signed(epoch.0)).fetch_optional(transaction).await?;
    Ok(id.as_deref().and_then(IncidentId::parse))
}

/// Ends the agent's epoch if it is still current. A database that was rebuilt from memory may hold
/// this kill without its incident.
async fn deactivate(transaction: &mut Connection<'_>, incident: &Incident) -> Result<bool, sqlx::Error> {
    let kill = &incident.kill;
    let updated = database::query(
        "update agents set active = 0, deactivated_by = $1, deactivated_at = $2, incident_id = $3, last_seen = $2
         where id = $4 and epoch = $5
            and (active = 1 or (incident_id = $3 and not exists (select 1 from incidents where id = $3)))",
    )
    .bind(DeactivatedBy::KillSwitch.as_str())
    .bind(kill.at.as_millis())
    .bind(kill.incident.to_string())
    .bind(kill.agent.as_str())
    .bind(signed(kill.epoch.0))
    .execute(transaction)
    .await?;
    Ok(updated.rows_affected() == 1)
}

/// Returns `false` if the incident is already stored.
async fn insert_incident(
    transaction: &mut Connection<'_>,
    incident: &Incident,
    cost: Option<NanoUsd>,
    evidence_count: usize,
) -> Result<bool, sqlx::Error> {
    let kill = &incident.kill;
    let inserted = database::query(
        "insert into incidents (id, agent_id, epoch, timestamp, state, provider, model, conversation, score,
            similar_prompts, similar_responses, repeated_tool_calls, score_window, enabled, window_size, threshold, action,
            counting, evidence_count, stuck_since, stuck_calls, cycle_period, cycle_laps, loop_cost_nano_usd, fingerprints)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
            $24, $25)
         on conflict do nothing",
    )
    .bind(kill.incident.to_string())
    .bind(kill.agent.as_str())
    .bind(signed(kill.epoch.0))
    .bind(kill.at.as_millis())
    .bind(incident.state.as_str())
    .bind(&incident.provider)
    .bind(incident.model.as_deref())
    .bind(incident.conversation.as_deref())
    .bind(kill.score.value)
    .bind(kill.score.signals.similar_prompts)
    .bind(kill.score.signals.similar_responses)
    .bind(kill.score.signals.repeated_tool_calls)
    .bind(kill.score.window.as_str())
    .bind(kill.kill_switch.enabled)
    .bind(kill.kill_switch.window_size)
    .bind(kill.kill_switch.threshold)
    .bind(kill.kill_switch.action.as_str())
    .bind(kill.kill_switch.counting.as_str())
    .bind(signed(evidence_count as u64))
    .bind((!kill.stuck.calls.is_empty()).then_some(kill.stuck.since.as_millis()))
    .bind(signed(kill.stuck.calls.len() as u64))
    .bind(kill.stuck.cycle.map(|cycle| cycle.period))
    .bind(kill.stuck.cycle.map(|cycle| cycle.laps))
    .bind(cost.map(NanoUsd::nanos))
    .bind(fingerprint::encode_all(&kill.window))
    .execute(transaction)
    .await?;
    Ok(inserted.rows_affected() == 1)
}

/// What `calls` have cost so far, including those whose events are `unwritten`; `None` if no cost
/// is known.
async fn cost_of(
    transaction: &mut Connection<'_>,
    calls: &[CallId],
    unwritten: &VecDeque<Arc<Event>>,
) -> Result<Option<NanoUsd>, sqlx::Error> {
    if calls.is_empty() {
        return Ok(None);
    }
    let mut query = QueryBuilder::new(concat!(
        "select case when count(cost_nano_usd) > 0 then ",
        dialect::sum!("cost_nano_usd"),
        " end from events where id in ("
    ));
    let mut ids = query.separated(", ");
    for call in calls {
        ids.push_bind(call.to_string());
    }
    query.push(")");
    let written: Option<i64> = query.build_query_scalar().fetch_one(transaction).await?;
    // There may be very many: a kill must not wait while each is compared with every call of a
    // large window.
    let calls: HashSet<CallId> = calls.iter().copied().collect();
    let unwritten = unwritten.iter().filter(|event| calls.contains(&event.id)).filter_map(|event| event.cost);
    Ok(written.map(NanoUsd::new).into_iter().chain(unwritten).reduce(|one, other| one + other))
}

static INSERT_EVIDENCE: LazyLock<BulkInsert> = LazyLock::new(|| {
    let columns = "incident_id, position, call_id, timestamp, matched, alike, prompt, tool_calls, response,
        request_body, response_body, request_chars, response_chars, truncated, tool_results, missing";
    BulkInsert::new(("evidence", columns), 16, &OnConflict::Ignore)
});

async fn insert_evidence(
    transaction: &mut Connection<'_>,
    incident: IncidentId,
    evidence: &[PackedEvidence],
) -> Result<(), sqlx::Error> {
    let incident = incident.to_string();
    let rows: Vec<_> = (0_i64..).zip(evidence).collect();
    INSERT_EVIDENCE
        .execute(transaction, &rows, |arguments, (position, packed)| {
            arguments.add(incident.as_str())?;
            arguments.add(position)?;
            arguments.add(packed.evidence.call.to_string())?;
            arguments.add(packed.evidence.time.map(|time| time.as_millis()))?;
            arguments.add(serde_json::to_string(&packed.evidence.matched)?)?;
            arguments.add(serde_json::to_string(&packed.evidence.alike)?)?;
            arguments.add(packed.evidence.prompt.as_deref())?;
            arguments.add(packed.evidence.tool_calls.as_deref())?;
            arguments.add(packed.evidence.response.as_deref())?;
            arguments.add(packed.request_body.as_deref())?;
            arguments.add(packed.response_body.as_deref())?;
            arguments.add(signed(packed.request_chars))?;
            arguments.add(signed(packed.response_chars))?;
            arguments.add(packed.evidence.truncated)?;
            arguments.add(packed.evidence.tool_results.as_deref())?;
            arguments.add(packed.evidence.missing.map(MissingBodies::as_str))
        })
        .await
}
