//! Reads replay lines: what a call asked and what was answered, whatever its form. Only what
//! baselines need is read, so that long histories cost little.

mod content;
mod turn;

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use flate2::bufread::MultiGzDecoder;
use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) use turn::{Answered, Asked, Result as ToolResult, ToolUse};

/// One line of a file.
#[derive(Deserialize)]
pub(crate) struct Line<'a> {
    pub(crate) id: String,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    verdict: Option<String>,
    #[serde(default)]
    pub(crate) first_stuck_call: Option<usize>,
    /// Set by the generator where healthy conversations run beside stuck ones.
    #[serde(default)]
    pub(crate) stuck_calls: Vec<usize>,
    #[serde(default)]
    pub(crate) shape: Option<String>,
    #[serde(borrow, default)]
    pub(crate) calls: Vec<Call<'a>>,
    #[serde(borrow, default)]
    messages: Vec<&'a RawValue>,
}

/// One call as it stands in the line.
#[derive(Deserialize)]
pub(crate) struct Call<'a> {
    #[serde(borrow)]
    request: Cow<'a, RawValue>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
}

/// What a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Healthy,
    Loop,
    /// Not labelled.
    Unknown,
}

impl<'a> Line<'a> {
    /// Reads a line. A transcript (`messages`) becomes the calls that made it.
    pub(crate) fn read(text: &'a str) -> serde_json::Result<Line<'a>> {
        let mut line: Line<'a> = serde_json::from_str(text)?;
        if line.calls.is_empty() {
            line.calls = calls_of(&line.messages)?;
        }
        Ok(line)
    }

    pub(crate) fn kind(&self) -> Kind {
        match (self.label.as_deref(), self.verdict.as_deref()) {
            (_, Some("loop")) | (Some("loop"), None) => Kind::Loop,
            (Some("ok"), None | Some("legit")) => Kind::Healthy,
            _ => Kind::Unknown,
        }
    }
}

/// Each assistant message is one call, answered to the messages before it.
fn calls_of<'a>(messages: &[&'a RawValue]) -> serde_json::Result<Vec<Call<'a>>> {
    let mut calls = Vec::new();
    for (place, message) in messages.iter().enumerate().skip(1) {
        let head: content::Message<'_> = serde_json::from_str(message.get())?;
        if head.role.as_deref() == Some("assistant") {
            let before: Vec<&str> = messages[..place].iter().map(|message| message.get()).collect();
            let request = RawValue::from_string(format!(r#"{{"messages":[{}]}}"#, before.join(",")))?;
            calls.push(Call { request: Cow::Owned(request), response: Some(message) });
        }
    }
    Ok(calls)
}

impl Call<'_> {
    pub(crate) fn asked(&self) -> serde_json::Result<Asked> {
        turn::asked(self.request.get())
    }

    /// `None` if the call failed.
    pub(crate) fn answered(&self) -> Option<Answered> {
        self.response.map(|response| turn::answered(response.get()))
    }

    /// About four bytes make a token.
    pub(crate) fn tokens(&self) -> u64 {
        (self.request.get().len() + self.response.map_or(0, |response| response.get().len())) as u64 / 4
    }
}

/// The lines of a file, plain or `.gz`.
pub(crate) fn lines(path: &Path) -> anyhow::Result<Box<dyn Iterator<Item = std::io::Result<String>>>> {
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let is_gzip = reader.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    let reader: Box<dyn BufRead> =
        if is_gzip { Box::new(BufReader::new(MultiGzDecoder::new(reader))) } else { Box::new(reader) };
    Ok(Box::new(reader.lines().filter(|line| line.as_ref().map_or(true, |line| !line.trim().is_empty()))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    #[test]
    fn every_form_reads_alike() {
        let shapes = shapes::all();
        let shape = shapes.iter().find(|shape| shape.name == "same_call_same_result").unwrap();
        for text in shape.lines(0) {
            let line = Line::read(&text).unwrap();
            assert_eq!(line.kind(), Kind::Loop);
            let (first, last) = (&line.calls[0], line.calls.last().unwrap());
            assert!(!first.asked().unwrap().prompt.is_empty(), "{}", line.id);
            assert!(first.asked().unwrap().results.is_empty());
            let asked = last.asked().unwrap();
            assert_eq!(asked.results.len(), 1, "{}", line.id);
            assert_eq!(asked.conversation, first.asked().unwrap().conversation);
            assert_eq!(asked.sent_back, last.answered().unwrap().calls, "{}", line.id);
        }
    }

    #[test]
    fn a_transcript_becomes_calls() {
        let text = r#"{"id":"a","label":"ok","messages":[{"role":"user","content":"Hi."},{"role":"assistant","content":"Yes?"},
            {"role":"user","content":"Bye."},{"role":"assistant","content":"Bye."}]}"#;
        let line = Line::read(text).unwrap();
        assert_eq!(line.kind(), Kind::Healthy);
        assert_eq!(line.calls.len(), 2);
        assert_eq!(line.calls[1].asked().unwrap().prompt, "Bye.");
        assert_eq!(line.calls[1].answered().unwrap().text, "Bye.");
    }
}
