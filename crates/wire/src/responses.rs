//! The answers of OpenAI's Responses: one body with `output` items, or a stream of events that say and finish such items.

use model::Usage;

use crate::answer::{Answer, error_text};
use crate::json::Json;
use crate::said::{Room, Said};
use crate::{step, usage};

/// Longer than any id of an item.
const MAX_ITEM_ID: usize = 256;

/// An answer as far as it has come.
#[derive(Debug)]
pub(crate) struct ResponsesAnswer {
    /// What was said; none before the response has begun.
    said: Option<Said>,
    /// Whether the item at hand has been said piece by piece.
    is_said: bool,
    room: Room,
    usage: Usage,
    model: Option<String>,
    id: Option<String>,
    call_items: Vec<(String, usize)>,
    error: Option<String>,
    saw_end: bool,
}

/// The fields that events have, in whatever order they stand.
#[derive(Debug, Default)]
struct EventFields<'a> {
    kind: Option<Json<'a>>,
    delta: Option<Json<'a>>,
    item: Option<Json<'a>>,
    response: Option<Json<'a>>,
    error: Option<Json<'a>>,
    message: Option<Json<'a>>,
}

impl ResponsesAnswer {
    pub(crate) fn new(limit: usize) -> ResponsesAnswer {
        ResponsesAnswer {
            said: None,
            is_said: false,
            room: Room(limit),
            usage: Usage::default(),
            model: None,
            id: None,
            call_items: Vec::new(),
            error: None,
            saw_end: false,
        }
    }

    /// The data of one event.
    pub(crate) fn event(&mut self, data: &str) {
        let mut fields = EventFields::default();
        let checked = Json::parse_fields(data, |key, value| match key {
            "type" => fields.kind = Some(value),
            "delta" => fields.delta = Some(value),
            "item" => fields.item = Some(value),
            "response" => fields.response = Some(value),
            "error" if !value.is_null() => fields.error = Some(value),
            "message" => fields.message = Some(value),
            _ => {}
        });
        if checked.is_ok() {
            self.take(&fields);
        }
    }

    /// A whole body.
    pub(crate) fn body(&mut self, body: &str) {
        let Ok(response) = Json::parse(body) else { return };
        self.read_response(response);
        self.read_output(response);
        self.saw_end = self.said.is_some();
    }

    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end
    }

    /// The response's id, if it has begun.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    pub(crate) fn finish(self) -> Answer {
        let complete = self.saw_end && self.error.is_none();
        let (usage, model, error) = (self.usage, self.model, self.error);
        let (id, call_items) = (self.id, self.call_items);
        Answer { answered: self.said.map(Said::finish), usage, model, error, complete, id, call_items }
    }

    fn take(&mut self, event: &EventFields<'_>) {
        match event.kind.and_then(Json::text).as_deref() {
            Some("response.output_text.delta" | "response.refusal.delta") => {
                let piece = event.delta.and_then(Json::text).unwrap_or_default();
                self.said.get_or_insert_default().say(&piece, &mut self.room);
                self.is_said = true;
            }
            Some("response.output_item.done") => {
                let is_said = std::mem::take(&mut self.is_said);
                if let Some(item) = event.item {
                    self.read_item(item, is_said);
                }
            }
            Some("response.completed" | "response.incomplete" | "response.failed") => self.end(event),
            Some("error") => self.error = Some(event.error.or(event.message).map(error_text).unwrap_or_default()),
            // Gateways send errors in a shape of their own.
            None if event.error.is_some() => self.error = event.error.map(error_text),
            // Where the response stands; the beginnings, pieces and ends of items; and what is yet to be invented.
            _ => {
                if let Some(response) = event.response {
                    self.read_response(response);
                }
            }
        }
    }

    fn end(&mut self, event: &EventFields<'_>) {
        self.saw_end = true;
        let Some(response) = event.response else { return };
        self.read_response(response);
        // Not every server streams the items before it hands on the whole.
        if self.said.as_ref().is_none_or(Said::is_empty) {
            self.read_output(response);
        }
    }

    /// All of a response but its output.
    fn read_response(&mut self, response: Json<'_>) {
        self.said.get_or_insert_default();
        response.fields(|key, value| match key {
            "id" => self.id = value.filled_text().map(Into::into),
            "model" => self.model = value.filled_text().map(Into::into),
            // Cannot fail: the value was checked when it was taken.
            "usage" => drop(usage::read_openai(&mut self.usage, &mut value.cursor())),
            "error" if !value.is_null() => self.error = Some(error_text(value)),
            "status" if matches!(value.text().as_deref(), Some("failed" | "cancelled")) => {
                self.error.get_or_insert_with(|| "the response failed or was cancelled".to_owned());
            }
            _ => {}
        });
    }

    fn read_output(&mut self, response: Json<'_>) {
        if let Some(output) = response.field("output") {
            output.items(|item| self.read_item(item, false));
        }
    }

    /// A whole item. Its text is left out if it has been said already. Reasoning is not what the model says.
    fn read_item(&mut self, item: Json<'_>, is_said: bool) {
        let said = self.said.get_or_insert_default();
        let kind = item.field("type").and_then(Json::text).unwrap_or_default();
        if kind.ends_with("_call") {
            let place = said.calls();
            said.call(&step::called_item(item), &mut self.room);
            if said.calls() > place {
                self.call_items.extend(item.field("id").and_then(item_id).map(|id| (id, place)));
            }
        } else if kind == "message" && !is_said {
            let Some(content) = item.field("content") else { return };
            content.items(|part| {
                let text = part.field("text").or_else(|| part.field("refusal")).and_then(Json::text);
                said.say(&text.unwrap_or_default(), &mut self.room);
            });
        }
    }
}

/// The id of an item, if it is not longer than ids are.
fn item_id(id: Json<'_>) -> Option<String> {
    id.filled_text().filter(|id| id.len() <= MAX_ITEM_ID).map(Into::into)
}
