//! Asking a Chat Completions stream for its usage where the client did not, and taking what that adds out of the stream
//! again, so that the client sees what it would have seen.

use bytes::{Bytes, BytesMut};
use memchr::memchr2;

use crate::json::Json;

/// Where a stream is known to report usage if it is asked to, and not otherwise.
const HOSTS: [&str; 3] = ["api.openai.com", "api.deepseek.com", "api.groq.com"];

/// The largest event that is held; a larger one is let through as it is.
const MAX_EVENT: usize = 1 << 20;

/// Whether the provider at this base URL documents `stream_options.include_usage` and needs it.
pub fn needs_include_usage(base_url: &str) -> bool {
    let host = base_url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    host.is_some_and(|host| HOSTS.contains(&host))
}

/// The body of a streamed Chat Completions request, made to ask for usage; all other bytes as they were. `None`: it asks
/// already, is not streamed, or cannot be read.
pub fn ask_for_usage(body: &[u8]) -> Option<Bytes> {
    let text = simdutf8::basic::from_utf8(body).ok()?;
    let (mut streamed, mut options) = (false, None);
    Json::parse_fields(text, |key, value| match key {
        "stream" => streamed = value.is_true(),
        "stream_options" => options = Some(value),
        _ => {}
    })
    .ok()?;
    if !streamed {
        return None;
    }
    let splice = match options {
        None => Splice::insert(text.find('{')? + 1, r#""stream_options":{"include_usage":true},"#),
        Some(options) if options.is_null() => Splice::replace(place(text, options.raw())?, r#"{"include_usage":true}"#),
        Some(options) => ask_in_options(text, options)?,
    };
    Some(splice.apply(text))
}

fn ask_in_options<'a>(text: &str, options: Json<'_>) -> Option<Splice<'a>> {
    let inside = options.raw().strip_prefix('{')?;
    match options.field("include_usage") {
        Some(asked) if asked.is_true() => None,
        Some(asked) => Some(Splice::replace(place(text, asked.raw())?, "true")),
        None => {
            let is_empty = inside.trim_ascii_start().starts_with('}');
            let words = if is_empty { r#""include_usage":true"# } else { r#""include_usage":true,"# };
            Some(Splice::insert(place(text, inside)?.0, words))
        }
    }
}

/// Words in place of some bytes.
struct Splice<'a> {
    from: usize,
    to: usize,
    words: &'a str,
}

impl<'a> Splice<'a> {
    fn insert(at: usize, words: &'a str) -> Splice<'a> {
        Splice { from: at, to: at, words }
    }

    fn replace((from, to): (usize, usize), words: &'a str) -> Splice<'a> {
        Splice { from, to, words }
    }

    fn apply(&self, text: &str) -> Bytes {
        let (before, after) = (&text.as_bytes()[..self.from], &text.as_bytes()[self.to..]);
        [before, self.words.as_bytes(), after].concat().into()
    }
}

/// Where `part`, a piece of `text` itself, begins and ends in it.
fn place(text: &str, part: &str) -> Option<(usize, usize)> {
    let from = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let to = from + part.len();
    (to <= text.len()).then_some((from, to))
}

/// Takes out of a stream what was added because usage was asked for: the event with nothing but usage, and `"usage":null`
/// in all others. Holds the bytes of an event until it is whole, which no client could read before.
#[derive(Debug, Default)]
pub struct UsageFilter {
    held: Vec<u8>,
    /// Where the line begins that is not whole yet.
    line: usize,
    /// A carriage return ended the last event: a line feed that follows belongs to it, and goes where it went.
    trailing: Option<Fate>,
}

/// What becomes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Passes,
    IsDropped,
}

impl UsageFilter {
    /// Takes the next bytes, and returns those that can go on.
    pub fn pass(&mut self, data: &[u8]) -> Bytes {
        let mut out = BytesMut::with_capacity(self.held.len() + data.len());
        let mut data = data;
        if let Some((fate, rest)) = self.trailing.zip(data.strip_prefix(b"\n")) {
            out.extend_from_slice(if fate == Fate::Passes { b"\n" } else { b"" });
            data = rest;
        }
        if !data.is_empty() {
            self.trailing = None;
        }
        let mut from = self.held.len();
        self.held.extend_from_slice(data);
        while let Some(end) = memchr2(b'\n', b'\r', &self.held[from..]) {
            from = self.end_line(from + end, &mut out);
        }
        if self.held.len() > MAX_EVENT {
            out.extend_from_slice(&self.release());
        }
        out.freeze()
    }

    /// What is still held, when the stream is over. `whole`: it came to its end, so the last event may lack its empty line.
    pub fn finish(&mut self, whole: bool) -> Bytes {
        let mut out = BytesMut::new();
        let held = self.release();
        if whole {
            judge(&held, &mut out);
        } else {
            out.extend_from_slice(&held);
        }
        out.freeze()
    }

    fn release(&mut self) -> Vec<u8> {
        self.line = 0;
        std::mem::take(&mut self.held)
    }

    /// A line ends at `end`; if it is empty, so does the event. Returns where the search goes on.
    fn end_line(&mut self, end: usize, out: &mut BytesMut) -> usize {
        let is_return = self.held[end] == b'\r';
        let has_feed = is_return && self.held.get(end + 1) == Some(&b'\n');
        let next = end + 1 + usize::from(has_feed);
        // A line feed alone at the start of a line may be the second half of an end that was cut in two.
        let second_half = !is_return && end == self.line && end > 0 && self.held[end - 1] == b'\r';
        let is_empty = end == self.line && !second_half;
        self.line = next;
        if !is_empty {
            return next;
        }
        let rest = self.held.split_off(next);
        let event = std::mem::replace(&mut self.held, rest);
        self.line = 0;
        let fate = judge(&event, out);
        if is_return && !has_feed && self.held.is_empty() {
            self.trailing = Some(fate);
        }
        0
    }
}

/// Adds to `out` what the client would have got of an event, had usage not been asked for.
fn judge(event: &[u8], out: &mut BytesMut) -> Fate {
    match simdutf8::basic::from_utf8(event).ok().and_then(added) {
        Some((from, to)) if (from, to) == (0, event.len()) => return Fate::IsDropped,
        Some((from, to)) => {
            out.extend_from_slice(&event[..from]);
            out.extend_from_slice(&event[to..]);
        }
        None => out.extend_from_slice(event),
    }
    Fate::Passes
}

/// The bytes of an event that are there only because usage was asked for.
fn added(event: &str) -> Option<(usize, usize)> {
    let mut lines = event.split(['\n', '\r']).filter_map(|line| line.strip_prefix("data:"));
    let data = lines.next()?.trim_ascii();
    if lines.next().is_some() {
        return None;
    }
    let (mut usage, mut usages, mut choices) = (None, 0, None);
    Json::parse_fields(data, |key, value| match key {
        "usage" => (usage, usages) = (Some(value), usages + 1),
        "choices" => choices = Some(value),
        _ => {}
    })
    .ok()?;
    let usage = usage.filter(|_| usages == 1)?;
    if usage.is_null() {
        return field(event, place(event, usage.raw())?);
    }
    let mut is_empty = choices?.raw().starts_with('[');
    choices?.items(|_| is_empty = false);
    (is_empty && usage.raw().starts_with('{')).then_some((0, event.len()))
}

/// A field with its key and its comma, from the place of its value.
fn field(event: &str, (from, to): (usize, usize)) -> Option<(usize, usize)> {
    let before = event[..from].trim_end().strip_suffix(':')?.trim_end().strip_suffix("\"usage\"")?;
    if let Some(before) = before.trim_end().strip_suffix(',') {
        return Some((before.len(), to));
    }
    let after = event[to..].trim_start().strip_prefix(',').map_or(&event[to..], str::trim_start);
    Some((before.len(), event.len() - after.len()))
}

#[cfg(test)]
mod tests;
