//! Removes from a stream what the request for usage added. The output does not depend on how the
//! stream is cut.

use bytes::{Bytes, BytesMut};
use memchr::{memchr2, memmem};

use super::range_of;
use crate::json::Json;

/// The largest event that is buffered. Larger ones pass unchanged.
pub(super) const MAX_EVENT: usize = 1 << 20;
/// A buffer larger than this is not kept for the next event.
const KEPT_BUFFER: usize = 64 << 10;

/// Removes the event that holds only usage, and `"usage":null` in all others. Buffers an event
/// until it is complete; no client can read it before.
#[derive(Debug, Default)]
pub struct UsageFilter {
    /// The incomplete event.
    pub(super) held: Vec<u8>,
    /// The length of `held` before the current pass.
    pub(super) held_before: usize,
    /// Whether the incomplete line has any bytes.
    is_in_line: bool,
    /// What the last byte ended, if it was a carriage return. A line feed that follows belongs to
    /// it.
    after_return: Option<Ended>,
    /// Whether the event is too large to buffer; the rest of it then passes.
    is_too_large: bool,
}

/// What a line end ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Line,
    EventThatPasses,
    EventThatIsDropped,
}

impl UsageFilter {
    /// Reads the next bytes and returns those that pass.
    pub fn pass(&mut self, data: &Bytes) -> Bytes {
        self.held_before = self.held.len();
        let mut output = Output { data, written: BytesMut::new(), from: 0 };
        let (mut event, mut at) = self.skip_feed(data, &mut output);
        let mut is_held = !self.held.is_empty();
        while let Some(length) = memchr2(b'\n', b'\r', &data[at..]) {
            let end = at + length;
            let is_return = data[end] == b'\r';
            let next = end + 1 + usize::from(is_return && data.get(end + 1) == Some(&b'\n'));
            let is_event = length == 0 && !self.is_in_line;
            let mut ended = Ended::Line;
            if is_event {
                ended = match std::mem::take(&mut is_held) {
                    true => self.end_held(&mut output, (end + 1, next)),
                    false => self.end_event(&mut output, (event, end + 1, next)),
                };
                event = next;
            }
            self.after_return = (is_return && next == data.len() && next == end + 1).then_some(ended);
            self.is_in_line = false;
            at = next;
        }
        self.is_in_line |= at < data.len();
        self.buffer(output, event, is_held)
    }

    /// Handles a line feed that completes a line end of the last pass. Returns where the event and
    /// the search begin.
    fn skip_feed(&mut self, data: &Bytes, output: &mut Output<'_>) -> (usize, usize) {
        let Some(&first) = data.first() else { return (0, 0) };
        match self.after_return.take().filter(|_| first == b'\n') {
            None => (0, 0),
            Some(Ended::Line) => (0, 1),
            Some(Ended::EventThatPasses) => (1, 1),
            Some(Ended::EventThatIsDropped) => {
                output.leave_out(0, 1);
                (1, 1)
            }
        }
    }

    /// Ends a buffered event before `next`. The first byte of its last line end is before `end`.
    fn end_held(&mut self, output: &mut Output<'_>, (end, next): (usize, usize)) -> Ended {
        self.held.extend_from_slice(&output.data[..next]);
        let length = self.held.len() - (next - end);
        let (from, to) = added_bytes(&self.held, length).unwrap_or_default();
        output.written.extend_from_slice(&self.held[..from]);
        output.written.extend_from_slice(&self.held[to..]);
        output.from = next;
        if to - from == self.held.len() { Ended::EventThatIsDropped } else { Ended::EventThatPasses }
    }

    /// Ends an event that came in one piece, from `start` to `next`.
    fn end_event(&mut self, output: &mut Output<'_>, (start, end, next): (usize, usize, usize)) -> Ended {
        if std::mem::take(&mut self.is_too_large) {
            return Ended::EventThatPasses;
        }
        let event = &output.data[start..next];
        let Some((from, to)) = added_bytes(event, end - start) else { return Ended::EventThatPasses };
        let is_dropped = to - from == event.len();
        output.leave_out(start + from, start + to);
        if is_dropped { Ended::EventThatIsDropped } else { Ended::EventThatPasses }
    }

    /// Buffers the incomplete event at `event` and returns the bytes that pass. `is_held` says that
    /// the event began before the data.
    fn buffer(&mut self, output: Output<'_>, event: usize, is_held: bool) -> Bytes {
        if self.is_too_large {
            let end = output.data.len();
            return output.up_to(end);
        }
        // Cleared only here: a pass that fails before must leave the buffer intact.
        if !is_held {
            self.held.clear();
            self.held.shrink_to(KEPT_BUFFER);
        }
        self.held.extend_from_slice(&output.data[event..]);
        if self.held.len() <= MAX_EVENT {
            return output.up_to(event);
        }
        self.is_too_large = true;
        let held = std::mem::take(&mut self.held);
        [output.up_to(event), held.into()].concat().into()
    }

    /// Returns the rest when the stream ends. `whole` says that it ended regularly, so the last
    /// event may lack its empty line.
    pub fn finish(&mut self, whole: bool) -> Bytes {
        self.held_before = self.held.len();
        let added = if whole { added_bytes(&self.held, self.held.len()) } else { None };
        let mut held = std::mem::take(&mut self.held);
        if let Some((from, to)) = added {
            held.drain(from..to);
        }
        held.into()
    }

    /// Returns the buffer from before a pass that failed. It and the data of that pass go on
    /// unchanged.
    pub fn give_up(&mut self) -> Bytes {
        self.held.truncate(self.held_before);
        std::mem::take(&mut self.held).into()
    }
}

/// The output of one pass.
struct Output<'a> {
    data: &'a Bytes,
    written: BytesMut,
    /// The start of the data that passes and is not written yet.
    from: usize,
}

impl Output<'_> {
    fn leave_out(&mut self, from: usize, to: usize) {
        self.written.extend_from_slice(&self.data[self.from..from]);
        self.from = to;
    }

    /// The output up to `end`: a slice of the data if nothing was removed.
    fn up_to(mut self, end: usize) -> Bytes {
        if self.written.is_empty() {
            return self.data.slice(self.from.min(end)..end);
        }
        if self.from < end {
            self.written.extend_from_slice(&self.data[self.from..end]);
        }
        self.written.freeze()
    }
}

/// The range that the request for usage added to an event. `length` excludes the second byte of its
/// last line end.
fn added_bytes(event: &[u8], length: usize) -> Option<(usize, usize)> {
    if length > MAX_EVENT {
        return None;
    }
    // In most streams only the last event has it.
    memmem::find(event, b"\"usage\"")?;
    simdutf8::basic::from_utf8(event).ok().and_then(added)
}

/// The range of an event that the request for usage added.
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
        return field(event, range_of(event, usage.raw())?);
    }
    let mut is_empty = choices?.raw().starts_with('[');
    choices?.items(|_| is_empty = false);
    (is_empty && usage.raw().starts_with('{')).then_some((0, event.len()))
}

/// The range of a field with its key and comma, given the range of its value.
fn field(event: &str, (from, to): (usize, usize)) -> Option<(usize, usize)> {
    let before = event[..from].trim_end().strip_suffix(':')?.trim_end().strip_suffix("\"usage\"")?;
    if let Some(before) = before.trim_end().strip_suffix(',') {
        return Some((before.len(), to));
    }
    let after = event[to..].trim_start().strip_prefix(',').map_or(&event[to..], str::trim_start);
    Some((before.len(), event.len() - after.len()))
}
