//! Runs recorded call by call: bodies as they were sent and answered, in any format that the proxy
//! reads.

use std::borrow::Cow;

use guard::{GrowingBody, PastCall, PastCalls};
use http::HeaderMap;
use model::{AgentId, Fingerprint, Format, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use wire::{Answer, AnswerReader, Chains, Dialect, KeptLink, RebuiltPrompt, RebuiltPrompts};

use super::messages::STEP_MS;

/// One call as it was recorded.
#[derive(Deserialize)]
pub(super) struct Recorded<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
    /// A body, or an assistant's message; `null` or absent if the call failed.
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    format: Option<Cow<'a, str>>,
    /// When it came, if known.
    #[serde(borrow, default)]
    timestamp: Option<Cow<'a, str>>,
    /// Whether it was one of several samples of a request, if known.
    #[serde(default)]
    sample: Option<bool>,
}

/// Memory for prompts that are rebuilt at every step, in lines.
const REBUILT_LINES: usize = 1 << 20;

/// The calls of a run.
pub(super) fn fingerprints(recorded: &[Recorded<'_>]) -> Result<Vec<Fingerprint>, String> {
    let mut calls: Vec<Fingerprint> = Vec::with_capacity(recorded.len());
    let mut history = EarlierCalls::new()?;
    for (place, call) in recorded.iter().enumerate() {
        let fingerprint = call.fingerprint(&mut history, calls.last());
        let fingerprint = fingerprint.map_err(|reason| format!("calls[{place}].{reason}"))?;
        let at_once = call.timestamp.is_some() && is_sample(&calls, &fingerprint);
        let is_sample = call.sample.unwrap_or(at_once);
        calls.push(Fingerprint { is_sample, ..fingerprint });
    }
    Ok(calls)
}

/// What earlier calls of the run said, for requests that carry only what is new.
struct EarlierCalls {
    prints: PastCalls,
    agent: AgentId,
    chains: Chains,
    rebuilt: RebuiltPrompts,
}

impl EarlierCalls {
    fn new() -> Result<EarlierCalls, String> {
        let agent = AgentId::parse("replay").map_err(|error| error.to_string())?;
        Ok(EarlierCalls {
            prints: PastCalls::default(),
            agent,
            chains: Chains::new(CHAINS),
            rebuilt: RebuiltPrompts::new(REBUILT_LINES),
        })
    }
}

/// How many bytes of earlier calls are kept: those of a very long run.
const CHAINS: usize = 64 << 20;

impl Recorded<'_> {
    fn fingerprint(&self, history: &mut EarlierCalls, before: Option<&Fingerprint>) -> Result<Fingerprint, String> {
        let (number, before) = (before.map_or(0, |call| call.number) + 1, before.map(|call| call.time));
        let dialect = self.dialect()?;
        let body = self.request.get().as_bytes();
        let mut asked = wire::read_request(dialect, body).map_err(|unread| format!("request: {unread}"))?;
        let earlier = history.chains.earlier_answers(&history.agent, &asked);
        earlier.complete(&mut asked);
        let run = RebuiltPrompt::of(&asked).map(|prompt| history.rebuilt.place("", &prompt, &mut asked));
        let time = self.time(before)?;
        let answer = self.response.map(|response| answer(dialect, response)).unwrap_or_default();
        if let (Some(run), Some(answered)) = (run, &answer.answered) {
            history.rebuilt.answered(run, answered);
        }
        let conversation = wire::conversation_of(&HeaderMap::new(), &asked);
        let fingerprint = history.prints.fingerprint(&PastCall {
            number,
            time,
            silence_ms: before.map_or(0, |before| time.as_millis() - before.as_millis()),
            conversation: &conversation,
            body: GrowingBody::default().hash(body),
            asked: &asked,
            answered: answer.answered.as_ref(),
            is_sample: false,
        });
        if answer.answered.is_some()
            && let Some(link) = KeptLink::of_request(&conversation, &asked)
        {
            history.chains.remember(&history.agent, link, &answer);
        }
        Ok(fingerprint)
    }

    fn time(&self, before: Option<Timestamp>) -> Result<Timestamp, String> {
        match &self.timestamp {
            Some(text) => Timestamp::parse(text).ok_or_else(|| "timestamp: is no time as in RFC 3339".to_owned()),
            None => Ok(Timestamp::from_millis(before.map_or(0, Timestamp::as_millis) + STEP_MS)),
        }
    }

    /// The dialect of the request: the format decides, and its fields select the endpoint.
    fn dialect(&self) -> Result<Dialect, String> {
        let fields: Fields<'_> =
            serde_json::from_str(self.request.get()).map_err(|error| format!("request: {error}"))?;
        let format = match self.format.as_deref() {
            Some(word) => Format::parse(word).ok_or("format: must be openai, anthropic, gemini or ollama")?,
            None if fields.contents.is_some() => Format::Gemini,
            None if self.response.is_some_and(is_anthropic_message) => Format::Anthropic,
            None => Format::Openai,
        };
        Ok(match format {
            Format::Anthropic => Dialect::Messages,
            Format::Gemini => Dialect::Gemini,
            Format::Ollama => Dialect::Ollama,
            Format::Openai if fields.messages.is_some() => Dialect::ChatCompletions,
            Format::Openai if fields.input.is_some() => Dialect::Responses,
            Format::Openai => Dialect::Completions,
        })
    }
}

/// No model answers within this many milliseconds.
const AT_ONCE_MS: i64 = 100;

/// Whether the same was asked so shortly before that it could not be answered yet: recordings do
/// not say which calls were in flight together.
fn is_sample(calls: &[Fingerprint], call: &Fingerprint) -> bool {
    let place = |call: &Fingerprint| (call.conversation, call.turn, call.step);
    let is_same = |other: &Fingerprint| other.body == call.body || place(other) == place(call);
    let (mut first, mut time) = (None, call.time.as_millis());
    for (at, other) in calls.iter().enumerate().rev() {
        if time - other.time.as_millis() > AT_ONCE_MS {
            break;
        }
        if is_same(other) {
            (first, time) = (Some(at), other.time.as_millis());
        }
    }
    let Some(first) = first else { return false };
    let answered_before = calls[..first].iter().any(|other| is_same(other) && other.response.is_some());
    !guard::is_later_round(&calls[first], answered_before)
}

/// The fields that distinguish endpoints.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    messages: Option<&'a RawValue>,
    #[serde(borrow, default)]
    contents: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

/// The fields that distinguish answers.
#[derive(Default, Deserialize)]
struct AnswerFields<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
}

fn is_anthropic_message(response: &RawValue) -> bool {
    let fields: AnswerFields<'_> = serde_json::from_str(response.get()).unwrap_or_default();
    fields.kind.is_some_and(|kind| kind == "message")
}

/// The answer, which holds nothing if it is an error or unreadable.
fn answer(dialect: Dialect, response: &RawValue) -> Answer {
    let fields: AnswerFields<'_> = serde_json::from_str(response.get()).unwrap_or_default();
    if fields.kind.is_none() && fields.role.is_some_and(|role| role == "assistant") {
        let answered = wire::read_assistant_message(response.get(), usize::MAX);
        return Answer { answered, ..Answer::default() };
    }
    let mut reader = AnswerReader::new(dialect, &HeaderMap::new(), usize::MAX);
    reader.feed(response.get().as_bytes());
    reader.finish()
}
