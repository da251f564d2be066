//! Records an incident: its evidence is taken from the cache at once and read in the background,
//! then the incident is sent to the recorder.

use std::sync::Arc;

use http::{HeaderMap, header};
use model::{
    Answered, Asked, CallId, Event, Evidence, Incident, IncidentId, IncidentState, Kill, MatchedCall, MissingBodies,
    Timestamp, ToolCall,
};
use wire::AnswerReader;

use crate::core::Core;
use crate::evidence::cache::MAX_RESPONSE;
use crate::evidence::cached_body::CachedCall;
use crate::runtime::fault_injection::panic_if_requested;

/// The most bytes of bodies in the evidence of one incident. Compressed bodies are small, and
/// decompressing five hundred calls with their history at once could exhaust memory.
const MAX_BODIES: usize = 64 << 20;

/// One call of the evidence with its cached bodies.
type Match = (MatchedCall, Option<CachedCall>);

/// The calls of the evidence, oldest first.
struct Matches {
    calls: Vec<Match>,
    /// Sorts before the id of every call since the start of the server.
    started: CallId,
}

/// Records a kill with its `kill_switch` event, and tells `kills` when it is committed. Continues
/// if the client that triggered it disconnects.
pub(crate) fn record_kill(core: &Arc<Core>, kill: Kill, event: Event) {
    let matches = take_bodies(core, &kill);
    let mut recording = Recording { core: Arc::clone(core), id: kill.incident, stored: kill.incident };
    tokio::spawn(async move {
        let incident = incident(kill, IncidentState::Open, &event, matches).await;
        let mut commit = recording.core.recorder.kill(incident, event);
        recording.note_stored(commit.incident().await);
    });
}

/// A kill on its way to disk. Dropping it releases the calls that wait for it.
struct Recording {
    core: Arc<Core>,
    id: IncidentId,
    /// The incident that ended the epoch.
    stored: IncidentId,
}

impl Recording {
    fn note_stored(&mut self, incident: Option<IncidentId>) {
        self.stored = incident.unwrap_or(self.id);
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.core.kills.finish_as(self.id, self.stored);
    }
}

/// Records an observed episode.
pub(crate) fn record_observed(core: &Arc<Core>, kill: Kill, event: &Event) {
    let core = Arc::clone(core);
    let matches = take_bodies(&core, &kill);
    let event = event.clone();
    tokio::spawn(async move {
        let incident = incident(kill, IncidentState::Observed, &event, matches).await;
        core.recorder.observed(incident);
    });
}

/// Takes the bodies before other calls displace them. If that fails, the kill is recorded without
/// them.
fn take_bodies(core: &Core, kill: &Kill) -> Matches {
    let get = |call: CallId| {
        panic_if_requested("evidence");
        core.evidence.get(call)
    };
    let kept = |matched: &MatchedCall| (matched.clone(), core.catch_panic.run(|| get(matched.call)).flatten());
    Matches { calls: kill.matches.iter().map(kept).collect(), started: core.started }
}

async fn incident(kill: Kill, state: IncidentState, event: &Event, matches: Matches) -> Incident {
    let Matches { calls, started } = matches;
    let reading = tokio::task::spawn_blocking(move || read_all(calls, started, MAX_BODIES));
    // A kill is recorded even if its evidence cannot be read.
    let evidence = reading.await.unwrap_or_default();
    Incident {
        kill,
        state,
        provider: event.provider.clone().unwrap_or_default(),
        model: event.model.clone(),
        conversation: event.conversation.clone(),
        evidence,
    }
}

/// Reads the calls that are cached, newest first, up to the limit of one incident.
pub(crate) fn read_cached(core: &Core, calls: &[CallId]) -> Vec<Evidence> {
    let mut bytes_left = MAX_BODIES;
    let mut evidence = Vec::new();
    for call in calls.iter().rev() {
        let Some(kept) = core.evidence.get(*call) else { continue };
        let Some(left) = bytes_left.checked_sub(kept.length()) else { break };
        bytes_left = left;
        let matched = MatchedCall { call: *call, matched: Vec::new(), alike: Vec::new() };
        evidence.extend(core.catch_panic.run(|| read(matched, &kept)));
    }
    evidence
}

/// Reads the newest calls first, up to `bytes_left` bytes, because the triggering call matters
/// most. The order of the result stays.
fn read_all(matches: Vec<Match>, started: CallId, mut bytes_left: usize) -> Vec<Evidence> {
    let newest_first = matches.into_iter().rev().map(|(matched, kept)| {
        let Some(kept) = kept else {
            // Ids sort by time.
            let missing = if matched.call < started { MissingBodies::Restart } else { MissingBodies::Budget };
            let time = matched.call.time();
            return without_bodies(matched, time, missing);
        };
        match bytes_left.checked_sub(kept.length()) {
            Some(left) => {
                bytes_left = left;
                read(matched, &kept)
            }
            None => without_bodies(matched, Some(kept.time), MissingBodies::Budget),
        }
    });
    let mut evidence: Vec<Evidence> = newest_first.collect();
    evidence.reverse();
    evidence
}

/// The evidence of a call whose bodies were dropped.
fn without_bodies(matched: MatchedCall, time: Option<Timestamp>, missing: MissingBodies) -> Evidence {
    let MatchedCall { call, matched, alike } = matched;
    Evidence {
        call,
        time,
        matched,
        alike,
        prompt: None,
        tool_calls: None,
        tool_results: None,
        response: None,
        request_body: None,
        response_body: None,
        truncated: true,
        missing: Some(missing),
    }
}

fn read(matched: MatchedCall, kept: &CachedCall) -> Evidence {
    let MatchedCall { call, matched, alike } = matched;
    let request_body = kept.request.read();
    let response_body = kept.response.as_ref().and_then(|response| response.body.read());
    let cut = kept.response.as_ref().is_some_and(|response| response.cut);
    let lost = request_body.is_none() || (kept.response.is_some() && response_body.is_none());
    let asked = request_body.as_deref().and_then(|body| wire::read_request(kept.dialect, body).ok());
    let texts = asked.map(|asked| (prompt(&asked), lines(&asked.tool_calls), results(&asked)));
    let (prompt, tool_calls, tool_results) = texts.unwrap_or_default();
    Evidence {
        call,
        time: Some(kept.time),
        matched,
        alike,
        prompt,
        tool_calls,
        tool_results,
        response: response_body.as_deref().and_then(|body| response(kept, body)),
        request_body,
        response_body,
        truncated: cut || lost,
        missing: None,
    }
}

/// The text of the prompt.
fn prompt(asked: &Asked<'_>) -> Option<String> {
    (!asked.prompt.is_empty()).then(|| asked.prompt.join("\n"))
}

/// The results of the newest tool calls.
fn results(asked: &Asked<'_>) -> Option<String> {
    (!asked.tool_results.is_empty()).then(|| asked.tool_results.join("\n"))
}

/// Tool calls, one per line.
fn lines(calls: &[ToolCall<'_>]) -> Option<String> {
    let lines: Vec<String> = calls.iter().map(|call| format!("{}({})", call.name, call.arguments)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The text of the answer, and its tool calls, one per line.
fn response(kept: &CachedCall, body: &[u8]) -> Option<String> {
    let content_type = kept.response.as_ref()?.content_type.clone();
    let headers: HeaderMap = content_type.map(|value| (header::CONTENT_TYPE, value)).into_iter().collect();
    let mut reader = AnswerReader::new(kept.dialect, &headers, MAX_RESPONSE);
    reader.feed(body);
    reader.finish().answered.filter(|answered| !answered.is_empty()).map(text)
}

fn text(answered: Answered) -> String {
    let said = (!answered.text.is_empty()).then_some(answered.text);
    said.into_iter().chain(lines(&answered.tool_calls)).collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use model::Matched;
    use wire::Dialect;

    use super::*;

    #[test]
    fn bodies_over_the_limit_are_left_out_and_marked() {
        let call = |length: usize| {
            let body = Bytes::from(vec![b'x'; length]);
            let kept = CachedCall::new(Timestamp::from_millis(7), Dialect::ChatCompletions, &body);
            let matched = MatchedCall { call: CallId::new(), matched: vec![Matched::Prompt], alike: Vec::new() };
            (matched, Some(kept))
        };
        let evidence = read_all(vec![call(30), call(200), call(60)], CallId::new(), 100);
        let kept: Vec<_> = evidence.iter().map(|it| (it.request_body.as_ref().map(Vec::len), it.truncated)).collect();
        assert_eq!(kept, [(Some(30), false), (None, true), (Some(60), false)]);
        assert!(evidence.iter().all(|it| it.time.is_some()));
    }
    #[test]
    fn evidence_says_why_bodies_are_missing() {
        let matched = |call| MatchedCall { call, matched: vec![Matched::Prompt], alike: Vec::new() };
        let (before, started, since) = (CallId::new(), CallId::new(), CallId::new());
        let evidence = read_all(vec![(matched(before), None), (matched(since), None)], started, 100);
        let missing: Vec<_> = evidence.iter().map(|it| it.missing).collect();
        assert_eq!(missing, [Some(MissingBodies::Restart), Some(MissingBodies::Budget)]);
        assert!(evidence.iter().all(|it| it.time.is_some()), "an id tells the time of its call");
    }
}
