//! One line of a recording: one run with its labels.

use std::borrow::Cow;

use model::Fingerprint;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{calls, messages};

/// One run, its calls fingerprinted.
#[derive(Debug)]
pub(crate) struct Run {
    /// Its id, or its position if it has none.
    pub(crate) id: String,
    /// Its kind.
    pub(crate) kind: Kind,
    /// The first stuck call, counted from 0.
    pub(crate) first_stuck_call: Option<usize>,
    /// Its calls.
    pub(crate) calls: Vec<Fingerprint>,
}

/// The kind of a run, as far as the recording says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It ended well and holds no loop: stopping it is a mistake.
    Healthy,
    /// It is stuck: not stopping it is a mistake.
    Loop,
    /// Unknown.
    Other,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Label {
    Ok,
    Failed,
    Loop,
}

/// The verdict of a reader of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Loop,
    Legit,
    Borderline,
}

/// The line as JSON.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    label: Option<Label>,
    verdict: Option<Verdict>,
    first_stuck_call: Option<usize>,
    #[serde(borrow, default)]
    messages: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    calls: Option<Vec<calls::Recorded<'a>>>,
    #[serde(default)]
    fingerprints: Option<Vec<Cow<'a, str>>>,
}

impl Run {
    /// Parses the line at `place`. An error says what is wrong.
    pub(crate) fn read(line: &[u8], place: &str) -> Result<Run, String> {
        if !line.starts_with(b"{") {
            return Err("must be a JSON object".to_owned());
        }
        let line: Line<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let calls = match (&line.messages, &line.calls, &line.fingerprints) {
            (Some(messages), None, None) => messages::fingerprints(messages)?,
            (None, Some(recorded), None) => calls::fingerprints(recorded)?,
            (None, None, Some(encoded)) => decoded(encoded)?,
            _ => return Err("must have one of `messages`, `calls` and `fingerprints`".to_owned()),
        };
        Ok(Run {
            id: line.id.map(id_text).filter(|id| !id.is_empty()).unwrap_or_else(|| place.to_owned()),
            kind: Kind::of(line.label, line.verdict),
            first_stuck_call: line.first_stuck_call,
            calls,
        })
    }
}

impl Kind {
    /// The verdict of a reader takes precedence over how the run ended: a run can reach its goal
    /// after it paid the same bill fifteen times.
    fn of(label: Option<Label>, verdict: Option<Verdict>) -> Kind {
        match (label, verdict) {
            (_, Some(Verdict::Loop)) | (Some(Label::Loop), None) => Kind::Loop,
            (Some(Label::Ok), None | Some(Verdict::Legit)) => Kind::Healthy,
            _ => Kind::Other,
        }
    }
}

/// An id is a text or a number.
fn id_text(id: &RawValue) -> String {
    serde_json::from_str::<String>(id.get()).unwrap_or_else(|_| id.get().to_owned())
}

fn decoded(encoded: &[Cow<'_, str>]) -> Result<Vec<Fingerprint>, String> {
    let decode = |(place, text): (usize, &Cow<'_, str>)| {
        let print = from_hex(text).and_then(|bytes| store::decode_fingerprint(&bytes));
        print.ok_or_else(|| format!("fingerprints[{place}] is no fingerprint of this version"))
    };
    encoded.iter().enumerate().map(decode).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().as_chunks::<2>();
    if !digits.1.is_empty() {
        return None;
    }
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.0.iter().map(byte).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;

    #[test]
    fn labels_and_verdicts_decide_the_kind_of_a_run() {
        let check = |keys: &str, expected: Kind| {
            let line = format!(r#"{{{keys}"messages":[]}}"#);
            assert_eq!(Run::read(line.as_bytes(), "a:1").unwrap().kind, expected, "{keys}");
        };
        check("", Kind::Other);
        check(r#""label":"ok","#, Kind::Healthy);
        check(r#""label":"ok","verdict":"legit","#, Kind::Healthy);
        check(r#""label":"ok","verdict":"borderline","#, Kind::Other);
        check(r#""label":"ok","verdict":"loop","#, Kind::Loop);
        check(r#""label":"failed","#, Kind::Other);
        check(r#""label":"failed","verdict":"loop","#, Kind::Loop);
        check(r#""label":"loop","#, Kind::Loop);
        check(r#""label":null,"verdict":null,"#, Kind::Other);
    }

    #[test]
    fn a_bad_line_says_what_is_wrong() {
        let check = |line: &str, expected: &str| {
            let reason = Run::read(line.as_bytes(), "a:1").unwrap_err();
            assert!(reason.contains(expected), "{line}: {reason}");
        };
        check("{", "EOF");
        check("[]", "must be a JSON object");
        check("{}", "must have one of");
        check(r#"{"messages":[],"calls":[]}"#, "must have one of");
        check(r#"{"messages":[],"label":"good"}"#, "unknown variant `good`");
        check(r#"{"fingerprints":["zz"]}"#, "fingerprints[0]");
        check(r#"{"calls":[{"request":{"messages":[]}}]}"#, "calls[0].request: no messages");
        check(r#"{"calls":[{"request":{},"format":"morse"}]}"#, "calls[0].format");
    }

    #[test]
    fn an_id_is_a_text_or_a_number_or_else_the_place() {
        let check = |id: &str, expected: &str| {
            let line = format!(r#"{{{id}"messages":[]}}"#);
            assert_eq!(Run::read(line.as_bytes(), "runs.jsonl:3").unwrap().id, expected, "{id}");
        };
        check(r#""id":"a/b","#, "a/b");
        check(r#""id":7,"#, "7");
        for none in ["", r#""id":null,"#, r#""id":"","#] {
            check(none, "runs.jsonl:3");
        }
    }
}
