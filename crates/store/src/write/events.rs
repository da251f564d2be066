//! Inserts events. Nearly all are successful calls, so the statement omits the columns that those
//! leave empty, and sends values that many rows share only once.

use std::sync::{Arc, LazyLock};

use model::{AgentId, AgentKeyId, CallId, Epoch, Event, EventType, NanoUsd, WindowKind};
use sqlx::error::BoxDynError;

use crate::columns::{self, signed};
use crate::database::{
    self, Arguments, BulkInsert, Connection, INSERT_OR_IGNORE, OnConflict, RowInsert, execute_with, text,
};
use model::fingerprint_bytes as fingerprint;

/// Columns that differ from event to event.
const OWN: &str = "id, number, timestamp, latency_ms, first_byte_ms, tokens_in, tokens_out, tokens_cached, tokens_cache_write,
    tokens_reasoning, cost_nano_usd, score, similar_prompts, similar_responses, repeated_tool_calls, prompt_hash, fingerprint";
const OWN_COLUMNS: usize = 17;

/// Columns that consecutive calls of an agent share; calls of one conversation also share its name.
const COMMON: &str = "agent_id, epoch, provider, model, status_code, streamed, score_window, key_id";
const COMMON_COLUMNS: usize = 8;

/// Columns that a successful call leaves empty; `count` and `minute` have their defaults.
const RARE: &str =
    "event_type, model_asked, cost_estimated, would_have_stopped, error, blocked, block_reason, incident_id";
const RARE_COLUMNS: usize = 8;

/// The values of a successful call in place of [`RARE`]; the rest have their defaults.
const USUAL: &str = "event_type, would_have_stopped, blocked";
const USUAL_VALUES: &str = "'llm_call',0,0";

static INSERT_ANY: LazyLock<BulkInsert> = LazyLock::new(|| {
    let columns = format!("{OWN}, conversation, {COMMON}, {RARE}");
    BulkInsert::new(("events", &columns), OWN_COLUMNS + 1 + COMMON_COLUMNS + RARE_COLUMNS, &OnConflict::Ignore)
});

static INSERT_CALLS: LazyLock<RowInsert> = LazyLock::new(|| {
    let into = format!("events ({OWN}, conversation, {COMMON}, {USUAL})");
    RowInsert::with_constants(&into, OWN_COLUMNS + 1 + COMMON_COLUMNS, USUAL_VALUES)
});

/// The most rows that share values in one statement.
const ALIKE: usize = 256;

static INSERT_ALIKE: LazyLock<String> = LazyLock::new(|| insert_sharing(OWN_COLUMNS + 1, COMMON_COLUMNS));
static INSERT_CONVERSATION: LazyLock<String> = LazyLock::new(|| insert_sharing(OWN_COLUMNS, 1 + COMMON_COLUMNS));

/// Shared values come after those of all rows, and each row refers to them by number.
fn insert_sharing(own: usize, common: usize) -> String {
    let common: Vec<_> = (1..=common).map(|place| format!("${}", ALIKE * own + place)).collect();
    let row = format!("({},{},{USUAL_VALUES})", vec!["?"; own].join(","), common.join(","));
    let rows = vec![row; ALIKE].join(",");
    format!("{INSERT_OR_IGNORE}events ({OWN}, conversation, {COMMON}, {USUAL}) values {rows}")
}

/// Inserts events.
pub(super) async fn insert(transaction: &mut Connection<'_>, events: &[&Event]) -> Result<(), sqlx::Error> {
    if transaction.is_postgres() {
        database::add_days(transaction, events.iter().map(|event| id_time(event.id))).await?;
        // Arrays already compress shared values.
        return insert_any(transaction, events).await;
    }
    let (mut calls, others): (Vec<&Event>, Vec<&Event>) = events.iter().partition(|event| is_usual(event));
    // In the order of the table, each row is appended after the one before.
    calls.sort_unstable_by_key(|call| call.id);
    let mut rest = calls.as_slice();
    while let Some((chunk, remaining)) = rest.split_at_checked(ALIKE) {
        let first = chunk[0];
        if chunk.iter().any(|call| Common::of(call) != Common::of(first)) {
            insert_calls(transaction, chunk).await?;
        } else if chunk.iter().any(|call| call.conversation != first.conversation) {
            insert_alike(transaction, chunk).await?;
        } else {
            insert_conversation(transaction, chunk).await?;
        }
        rest = remaining;
    }
    insert_calls(transaction, rest).await?;
    insert_any(transaction, &others).await
}

async fn insert_any(transaction: &mut Connection<'_>, events: &[&Event]) -> Result<(), sqlx::Error> {
    let push = |arguments: &mut Arguments, event: &&Event| {
        push_own(arguments, event)?;
        push_conversation(arguments, event)?;
        Common::of(event).push(arguments)?;
        push_rare(arguments, event)
    };
    INSERT_ANY.execute(transaction, events, push).await
}

async fn insert_calls(transaction: &mut Connection<'_>, calls: &[&Event]) -> Result<(), sqlx::Error> {
    let push = |arguments: &mut Arguments, call: &&Event| {
        push_own(arguments, call)?;
        push_conversation(arguments, call)?;
        Common::of(call).push(arguments)
    };
    INSERT_CALLS.execute(transaction, calls, push).await
}

/// Inserts calls that share everything but their conversations.
async fn insert_alike(transaction: &mut Connection<'_>, calls: &[&Event]) -> Result<(), sqlx::Error> {
    let push = |arguments: &mut Arguments| {
        for call in calls {
            push_own(arguments, call)?;
            push_conversation(arguments, call)?;
        }
        Common::of(calls[0]).push(arguments)
    };
    execute_with(transaction, &INSERT_ALIKE, ALIKE * (OWN_COLUMNS + 1) + COMMON_COLUMNS, push).await
}

/// Inserts calls that share everything, conversation included.
async fn insert_conversation(transaction: &mut Connection<'_>, calls: &[&Event]) -> Result<(), sqlx::Error> {
    let push = |arguments: &mut Arguments| {
        calls.iter().try_for_each(|call| push_own(arguments, call))?;
        push_conversation(arguments, calls[0])?;
        Common::of(calls[0]).push(arguments)
    };
    execute_with(transaction, &INSERT_CONVERSATION, ALIKE * OWN_COLUMNS + 1 + COMMON_COLUMNS, push).await
}

/// The time in an id: its first 48 bits, by which ids sort.
pub(super) fn id_time(id: CallId) -> i64 {
    i64::try_from(id.0.as_u128() >> 80).unwrap_or_default()
}

/// Whether all columns of [`RARE`] have their usual values.
fn is_usual(event: &Event) -> bool {
    event.event_type == EventType::LlmCall
        && event.model_asked.is_none()
        && !event.estimated
        && !event.would_have_stopped
        && event.error.is_none()
        && event.block_reason.is_none()
        && event.incident.is_none()
}

/// The values of [`COMMON`].
#[derive(PartialEq)]
struct Common<'a> {
    agent: &'a AgentId,
    epoch: Epoch,
    provider: Option<&'a str>,
    model: Option<&'a str>,
    status: Option<u16>,
    streamed: bool,
    window: Option<WindowKind>,
    key: Option<AgentKeyId>,
    token_subject: Option<&'a str>,
}

impl<'a> Common<'a> {
    fn of(event: &'a Event) -> Common<'a> {
        Common {
            agent: &event.agent,
            epoch: event.epoch,
            provider: event.provider.as_deref(),
            model: event.model.as_deref(),
            status: event.status,
            streamed: event.streamed,
            window: event.score.map(|score| score.window),
            key: event.key,
            token_subject: event.token_subject.as_deref(),
        }
    }

    fn push(&self, arguments: &mut Arguments) -> Result<(), BoxDynError> {
        arguments.add(text(self.agent.as_str()))?;
        arguments.add(signed(self.epoch.0))?;
        arguments.add(self.provider.map(text))?;
        arguments.add(self.model.map(text))?;
        arguments.add(self.status)?;
        arguments.add(self.streamed)?;
        arguments.add(self.window.map(|window| text(window.as_str())))?;
        arguments.add(credential(self.key, self.token_subject))
    }
}

/// The key or the token that an event came with, as the database has it.
pub(super) fn credential_text(event: &Event) -> Option<Arc<str>> {
    credential(event.key, event.token_subject.as_deref())
}

fn credential(key: Option<AgentKeyId>, token_subject: Option<&str>) -> Option<Arc<str>> {
    let key = key.map(|key| text(key.0.hyphenated().encode_lower(&mut [0; 36])));
    key.or_else(|| token_subject.map(|subject| text(&format!("{}{subject}", columns::TOKEN_PREFIX))))
}

/// The values of [`OWN`].
fn push_own(arguments: &mut Arguments, event: &Event) -> Result<(), BoxDynError> {
    let count = |number: Option<u64>| number.map(signed);
    let fingerprint = event.fingerprint.as_ref();
    arguments.add(text(event.id.0.hyphenated().encode_lower(&mut [0; 36])))?;
    arguments.add(fingerprint.map(|fingerprint| signed(fingerprint.number)))?;
    arguments.add(event.time.as_millis())?;
    arguments.add(count(event.latency_ms))?;
    arguments.add(count(event.first_byte_ms))?;
    arguments.add(count(event.usage.input))?;
    arguments.add(count(event.usage.output))?;
    arguments.add(count(event.usage.cached))?;
    arguments.add(count(event.usage.cache_write))?;
    arguments.add(count(event.usage.reasoning))?;
    arguments.add(event.cost.map(NanoUsd::nanos))?;
    arguments.add(event.score.map(|score| score.value))?;
    arguments.add(event.score.map(|score| score.signals.similar_prompts))?;
    arguments.add(event.score.map(|score| score.signals.similar_responses))?;
    arguments.add(event.score.map(|score| score.signals.repeated_tool_calls))?;
    arguments.add(fingerprint.and_then(|it| it.prompt).map(|hash| hash.0.cast_signed()))?;
    arguments.add(fingerprint.map(fingerprint::encode))
}

fn push_conversation(arguments: &mut Arguments, event: &Event) -> Result<(), BoxDynError> {
    arguments.add(event.conversation.as_deref().map(text))
}

/// The values of [`RARE`].
fn push_rare(arguments: &mut Arguments, event: &Event) -> Result<(), BoxDynError> {
    arguments.add(text(event.event_type.as_str()))?;
    arguments.add(event.model_asked.as_deref().map(text))?;
    arguments.add(event.estimated)?;
    arguments.add(event.would_have_stopped)?;
    arguments.add(event.error.as_deref().map(text))?;
    arguments.add(event.block_reason.is_some())?;
    arguments.add(event.block_reason.map(|reason| text(reason.as_str())))?;
    arguments.add(event.incident.map(|incident| text(&incident.to_string())))
}
