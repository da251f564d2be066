//! Rows of events. Nearly all are calls that went as they should: what such calls never have is left out of the statement,
//! and what many in a row have in common is sent once.

use std::sync::{Arc, LazyLock};

use model::{AgentId, Epoch, Event, EventType, NanoUsd, WindowKind};
use sqlx::error::BoxDynError;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, SqliteConnection};

use super::rows::{Insert, execute};
use crate::columns::signed;
use crate::fingerprint;

/// What differs from event to event.
const OWN: &str = "id, number, timestamp, latency_ms, first_byte_ms, tokens_in, tokens_out, tokens_cached, tokens_cache_write,
    tokens_reasoning, cost_nano_usd, score, similar_prompts, similar_responses, repeated_tool_calls, prompt_hash, fingerprint";
const OWN_COLUMNS: usize = 17;

/// What the calls of an agent have in common for a while; those of one conversation have that in common, too.
const COMMON: &str = "agent_id, epoch, provider, model, status_code, streamed, score_window";
const COMMON_COLUMNS: usize = 7;

/// What a call that went as it should has not; `count` and `minute` have their defaults.
const RARE: &str =
    "event_type, model_asked, cost_estimated, would_have_stopped, error, blocked, block_reason, incident_id";
const RARE_COLUMNS: usize = 8;

/// What stands for [`RARE`] in a call that went as it should; the rest have their defaults.
const USUAL: &str = "event_type, would_have_stopped, blocked";
const USUAL_VALUES: &str = "'llm_call',0,0";

static INSERT_ANY: LazyLock<Insert> = LazyLock::new(|| {
    let into = format!("events ({OWN}, conversation, {COMMON}, {RARE})");
    Insert::new(&into, OWN_COLUMNS + 1 + COMMON_COLUMNS + RARE_COLUMNS, "")
});

static INSERT_CALLS: LazyLock<Insert> = LazyLock::new(|| {
    let into = format!("events ({OWN}, conversation, {COMMON}, {USUAL})");
    Insert::with_constants(&into, OWN_COLUMNS + 1 + COMMON_COLUMNS, USUAL_VALUES)
});

/// How many calls have something in common, if it is sent once.
const ALIKE: usize = 256;

static INSERT_ALIKE: LazyLock<String> = LazyLock::new(|| insert_sharing(OWN_COLUMNS + 1, COMMON_COLUMNS));
static INSERT_CONVERSATION: LazyLock<String> = LazyLock::new(|| insert_sharing(OWN_COLUMNS, 1 + COMMON_COLUMNS));

/// What the rows share comes after the values of all of them, and has a number by which each refers to it.
fn insert_sharing(own: usize, common: usize) -> String {
    let common: Vec<_> = (1..=common).map(|place| format!("${}", ALIKE * own + place)).collect();
    let row = format!("({},{},{USUAL_VALUES})", vec!["?"; own].join(","), common.join(","));
    let rows = vec![row; ALIKE].join(",");
    format!("insert or ignore into events ({OWN}, conversation, {COMMON}, {USUAL}) values {rows}")
}

/// Inserts events as they are.
pub(super) async fn insert(transaction: &mut SqliteConnection, events: &[&Event]) -> Result<(), sqlx::Error> {
    let (mut calls, others): (Vec<&Event>, Vec<&Event>) = events.iter().partition(|event| is_usual(event));
    // They come in the order in which they ended. In that of the table each goes behind the one before.
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
    let push = |arguments: &mut SqliteArguments, event: &&Event| {
        push_own(arguments, event)?;
        push_conversation(arguments, event)?;
        Common::of(event).push(arguments)?;
        push_rare(arguments, event)
    };
    INSERT_ANY.execute(transaction, &others, push).await
}

async fn insert_calls(transaction: &mut SqliteConnection, calls: &[&Event]) -> Result<(), sqlx::Error> {
    let push = |arguments: &mut SqliteArguments, call: &&Event| {
        push_own(arguments, call)?;
        push_conversation(arguments, call)?;
        Common::of(call).push(arguments)
    };
    INSERT_CALLS.execute(transaction, calls, push).await
}

/// Inserts calls that are alike but for their conversations.
async fn insert_alike(transaction: &mut SqliteConnection, calls: &[&Event]) -> Result<(), sqlx::Error> {
    let push = |arguments: &mut SqliteArguments| {
        for call in calls {
            push_own(arguments, call)?;
            push_conversation(arguments, call)?;
        }
        Common::of(calls[0]).push(arguments)
    };
    execute(transaction, &INSERT_ALIKE, ALIKE * (OWN_COLUMNS + 1) + COMMON_COLUMNS, push).await
}

/// Inserts calls that are alike and of one conversation.
async fn insert_conversation(transaction: &mut SqliteConnection, calls: &[&Event]) -> Result<(), sqlx::Error> {
    let push = |arguments: &mut SqliteArguments| {
        calls.iter().try_for_each(|call| push_own(arguments, call))?;
        push_conversation(arguments, calls[0])?;
        Common::of(calls[0]).push(arguments)
    };
    execute(transaction, &INSERT_CONVERSATION, ALIKE * OWN_COLUMNS + 1 + COMMON_COLUMNS, push).await
}

/// Whether an event has nothing of what is [`RARE`].
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
        }
    }

    fn push(&self, arguments: &mut SqliteArguments) -> Result<(), BoxDynError> {
        arguments.add(text(self.agent.as_str()))?;
        arguments.add(signed(self.epoch.0))?;
        arguments.add(self.provider.map(text))?;
        arguments.add(self.model.map(text))?;
        arguments.add(self.status)?;
        arguments.add(self.streamed)?;
        arguments.add(self.window.map(|window| text(window.as_str())))
    }
}

/// The values of [`OWN`].
fn push_own(arguments: &mut SqliteArguments, event: &Event) -> Result<(), BoxDynError> {
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

fn push_conversation(arguments: &mut SqliteArguments, event: &Event) -> Result<(), BoxDynError> {
    arguments.add(event.conversation.as_deref().map(text))
}

/// The values of [`RARE`].
fn push_rare(arguments: &mut SqliteArguments, event: &Event) -> Result<(), BoxDynError> {
    arguments.add(text(event.event_type.as_str()))?;
    arguments.add(event.model_asked.as_deref().map(text))?;
    arguments.add(event.estimated)?;
    arguments.add(event.would_have_stopped)?;
    arguments.add(event.error.as_deref().map(text))?;
    arguments.add(event.block_reason.is_some())?;
    arguments.add(event.block_reason.map(|reason| text(reason.as_str())))?;
    arguments.add(event.incident.map(|incident| text(&incident.to_string())))
}

/// Text as an argument with one allocation; a plain `&str` takes two.
pub(super) fn text(text: &str) -> Arc<str> {
    Arc::from(text)
}
