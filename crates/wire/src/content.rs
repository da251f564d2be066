//! The content of a message: a string, or a list of parts that are text, attachments, tool calls or
//! tool results.

use std::borrow::Cow;

use twox_hash::XxHash3_64;

use crate::json::{Cursor, Json, Malformed};

/// The kind of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartKind {
    Text = 1,
    Attachment = 2,
    ToolUse = 4,
    ToolResult = 8,
}

impl PartKind {
    /// The kind that a part's `type` names.
    fn of_type(kind: &str) -> PartKind {
        match kind {
            "text" | "input_text" | "output_text" => PartKind::Text,
            "tool_use" | "server_tool_use" | "mcp_tool_use" => PartKind::ToolUse,
            "tool_result" => PartKind::ToolResult,
            _ => PartKind::Attachment,
        }
    }
}

/// The fields that decide a part's kind.
#[derive(Clone, Copy, Debug, Default)]
struct Marks<'a> {
    kind: Option<Json<'a>>,
    text: Option<Json<'a>>,
    wrapped: Option<Wrapped<'a>>,
}

/// Gemini and Bedrock have no `type`, but a field for each kind, which holds the rest of the part.
#[derive(Clone, Copy, Debug)]
enum Wrapped<'a> {
    Call(Json<'a>),
    Result(ToolResult<'a>),
    /// Bedrock's cache marker, which clients move from message to message, counts as an empty text.
    CacheMarker,
}

impl Wrapped<'_> {
    fn part_kind(self) -> PartKind {
        match self {
            Wrapped::Call(_) => PartKind::ToolUse,
            Wrapped::Result(_) => PartKind::ToolResult,
            Wrapped::CacheMarker => PartKind::Text,
        }
    }
}

impl<'a> Marks<'a> {
    fn read_field(&mut self, key: &str, value: Json<'a>) {
        match key {
            "type" => self.kind = Some(value),
            "text" => self.text = Some(value),
            "functionCall" | "function_call" | "toolUse" => self.wrapped = Some(Wrapped::Call(value)),
            "functionResponse" | "function_response" => {
                self.wrapped = Some(Wrapped::Result(ToolResult::Gemini(value)));
            }
            "toolResult" => self.wrapped = Some(Wrapped::Result(ToolResult::Bedrock(value))),
            "cachePoint" => self.wrapped = Some(Wrapped::CacheMarker),
            _ => {}
        }
    }

    /// Some clients omit the `type` and send only a `text`.
    fn part_kind(self) -> PartKind {
        match self.kind.and_then(Json::text) {
            Some(kind) => PartKind::of_type(&kind),
            None => match self.wrapped {
                Some(wrapped) => wrapped.part_kind(),
                None if self.text.is_some() => PartKind::Text,
                None => PartKind::Attachment,
            },
        }
    }

    /// `part` with these marks; `None` if it has no content.
    fn read(self, part: Json<'a>) -> Option<Part<'a>> {
        Some(match (self.part_kind(), self.wrapped) {
            (PartKind::Text, _) => Part::Text(self.text?),
            (PartKind::Attachment, _) => Part::Attachment(part),
            (PartKind::ToolUse, Some(Wrapped::Call(call))) => Part::ToolUse(call),
            (PartKind::ToolUse, _) => Part::ToolUse(part),
            (PartKind::ToolResult, Some(Wrapped::Result(result))) => Part::ToolResult(result),
            (PartKind::ToolResult, _) => Part::ToolResult(ToolResult::Anthropic(part)),
        })
    }
}

/// The set of kinds of a content's parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartKinds(u8);

impl PartKinds {
    /// Whether there is a part of this kind. An empty text does not count.
    pub(crate) fn has(self, kind: PartKind) -> bool {
        self.0 & kind as u8 != 0
    }

    /// The kinds in a prompt that is not a message. A prompt of unknown form (tokens, a template's
    /// name and variables) counts as one attachment.
    pub(crate) fn of_prompt(prompt: Json<'_>) -> PartKinds {
        let kinds = PartKinds::read(&mut Cursor::new(prompt.raw())).unwrap_or_default();
        let is_unknown = kinds.0 == 0 && matches!(prompt.raw().as_bytes(), [b'[' | b'{', _, _, ..]);
        if is_unknown { PartKinds(PartKind::Attachment as u8) } else { kinds }
    }

    /// Reads the kinds of a content's parts from the cursor.
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<PartKinds, Malformed> {
        let mut kinds = PartKinds::default();
        if cursor.peek() == b'[' {
            cursor.array(|cursor| kinds.read_part(cursor))?;
        } else if is_filled(cursor.value()?) {
            kinds.0 |= PartKind::Text as u8;
        }
        Ok(kinds)
    }

    fn read_part(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
        if cursor.peek() != b'{' {
            if is_filled(cursor.value()?) {
                self.0 |= PartKind::Text as u8;
            }
            return Ok(());
        }
        let mut marks = Marks::default();
        cursor.object(|cursor, key| {
            marks.read_field(key, cursor.value()?);
            Ok(())
        })?;
        let kind = marks.part_kind();
        if kind != PartKind::Text || marks.text.is_some_and(is_filled) {
            self.0 |= kind as u8;
        }
        Ok(())
    }
}

fn is_filled(value: Json<'_>) -> bool {
    value.raw().len() > 2 && value.raw().starts_with('"')
}

/// One part of a content.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// A text.
    Text(Json<'a>),
    /// An image, audio, a file, a document.
    Attachment(Json<'a>),
    /// A tool call: the object with its name and arguments.
    ToolUse(Json<'a>),
    /// A tool's result.
    ToolResult(ToolResult<'a>),
}

/// A tool's result, by the provider whose form it has: the object with its id and content.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ToolResult<'a> {
    Anthropic(Json<'a>),
    Gemini(Json<'a>),
    Bedrock(Json<'a>),
}

/// Visits the parts of a content; a string is one part.
pub(crate) fn parts<'a>(content: Json<'a>, mut visit: impl FnMut(Part<'a>)) {
    if content.is_text() {
        return visit(Part::Text(content));
    }
    content.items(|part| {
        if part.is_text() {
            return visit(Part::Text(part));
        }
        let mut marks = Marks::default();
        part.fields(|key, value| marks.read_field(key, value));
        marks.read(part).into_iter().for_each(&mut visit);
    });
}

/// A content's texts and attachments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content<'a> {
    pub(crate) texts: Vec<Cow<'a, str>>,
    pub(crate) attachments: Vec<&'a str>,
}

impl<'a> Content<'a> {
    /// Reads the texts and attachments of a content.
    pub(crate) fn read(content: Json<'a>) -> Content<'a> {
        if content.is_text() {
            return Content { texts: content.filled_text().into_iter().collect(), attachments: Vec::new() };
        }
        let mut read = Content::default();
        parts(content, |part| match part {
            Part::Text(text) => read.texts.extend(text.filled_text()),
            Part::Attachment(part) => attached(part, |value| read.attachments.push(value)),
            Part::ToolUse(_) | Part::ToolResult(_) => {}
        });
        read
    }

    /// Texts and attachments as one text, so that another attachment makes another text.
    pub(crate) fn joined(mut self) -> Cow<'a, str> {
        if self.attachments.is_empty() && self.texts.len() < 2 {
            return self.texts.pop().unwrap_or_default();
        }
        let attachments = self.attachments.iter().map(|data| attachment_text(data));
        Cow::Owned(self.texts.into_iter().chain(attachments).collect::<Vec<_>>().join("\n"))
    }
}

/// An attachment as it is written, with encoded data replaced by a word of letters. The data
/// itself, or digits of its hash, would be masked as an id.
pub(crate) fn attachment_text(raw: &str) -> Cow<'_, str> {
    if !["base64", "\"bytes\""].iter().any(|mark| raw.contains(mark)) {
        return Cow::Borrowed(raw);
    }
    let hash = XxHash3_64::oneshot(raw.as_bytes());
    let letter = |place: u32| char::from(b'g' + (hash >> (place * 4) & 15) as u8);
    Cow::Owned((0..u64::BITS / 4).map(letter).collect())
}

/// Visits the values of an attachment. Skips its type and the cache marker, which clients move from
/// message to message.
fn attached<'a>(part: Json<'a>, mut visit: impl FnMut(&'a str)) {
    part.fields(|key, value| {
        if key != "type" && key != "cache_control" {
            visit(value.raw());
        }
    });
}
