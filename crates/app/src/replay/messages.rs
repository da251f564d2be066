//! Runs recorded as one list of messages: each assistant message is the response to the messages
//! before it. Every message is parsed once, however many calls follow it.

use guard::{GrowingBody, PastCall, PastCalls};
use http::HeaderMap;
use model::{Fingerprint, Timestamp};
use serde_json::value::RawValue;
use wire::{Transcript, TranscriptMessage};

/// Transcripts have no times: one call a second is as fast as loops are.
pub(super) const STEP_MS: i64 = 1_000;

/// The calls of a run.
pub(super) fn fingerprints(messages: &[&RawValue]) -> Result<Vec<Fingerprint>, String> {
    let mut transcript = Transcript::default();
    let mut body = GrowingBody::default();
    body.push(br#"{"messages":["#);
    let mut calls = Vec::new();
    let mut past = PastCalls::default();
    for (place, message) in messages.iter().enumerate() {
        let read = read(message).map_err(|reason| format!("messages[{place}]: {reason}"))?;
        // An answer without a prompt is an example before the run.
        if read.is_by_model() && place > 0 {
            let number = calls.len() as u64 + 1;
            let answered = wire::read_assistant_message(message.get(), usize::MAX);
            let asked = transcript.asked();
            calls.push(past.fingerprint(&PastCall {
                number,
                time: Timestamp::from_millis(number as i64 * STEP_MS),
                silence_ms: if number > 1 { STEP_MS } else { 0 },
                conversation: &wire::conversation_of(&HeaderMap::new(), &asked),
                body: body.hash(b"]}"),
                asked: &asked,
                answered: answered.as_ref(),
                is_sample: false,
            }));
        }
        transcript.push(read);
        body.push(if place == 0 { b"" } else { b"," });
        body.push(message.get().as_bytes());
    }
    Ok(calls)
}

fn read(message: &RawValue) -> Result<TranscriptMessage<'_>, String> {
    if !message.get().starts_with('{') {
        return Err("must be an object".to_owned());
    }
    TranscriptMessage::read(message.get()).map_err(|unread| unread.to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::super::calls;
    use super::*;

    const MESSAGES: &str = r#"[
        {"role":"system","content":"You fix code."},
        {"role":"user","content":"Fix the parser, please, and tell me when the tests of it pass again."},
        {"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"ls","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"a","content":"a.rs"},
        {"role":"assistant","content":"I look.\n```bash\ncat a.rs\n```"},
        {"role":"user","content":"fn main() {}"},
        {"role":"assistant","content":"I look.\n```bash\ncat a.rs\n```"},
        {"role":"user","content":"fn main() {}"},
        {"role":"assistant","content":"Done."}]"#;

    /// The same run, with all messages in each request.
    fn as_calls(messages: &[&RawValue]) -> Vec<Fingerprint> {
        let mut lines = Vec::new();
        for (place, message) in messages.iter().enumerate().skip(1) {
            if read(message).unwrap().is_by_model() {
                let before: Vec<&str> = messages[..place].iter().map(|message| message.get()).collect();
                lines.push(format!(r#"{{"request":{{"messages":[{}]}},"response":{message}}}"#, before.join(",")));
            }
        }
        let recorded = format!("[{}]", lines.join(","));
        calls::fingerprints(&serde_json::from_str::<Vec<calls::Recorded<'_>>>(&recorded).unwrap()).unwrap()
    }

    #[test]
    fn reading_once_gives_the_fingerprints_of_every_request() {
        let messages: Vec<&RawValue> = serde_json::from_str(MESSAGES).unwrap();
        let once = fingerprints(&messages).unwrap();
        let naive = as_calls(&messages);
        assert_eq!(once.len(), 4);
        for (one, other) in once.iter().zip(&naive) {
            assert_eq!(*one, Fingerprint { call: one.call, ..*other });
        }
        assert_eq!(once.len(), naive.len());
        assert!(once[2].tools.unwrap().is_written && once[1].tools.is_some_and(|tools| !tools.is_written));
    }
}
