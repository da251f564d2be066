//! OpenAI's Responses: a body with `output` items, or a stream of events that build such items.

use model::Usage;

use crate::answer::accumulator::{Accumulator, ByteBudget};
use crate::answer::usage;
use crate::answer::{Answer, error_text};
use crate::json::Json;
use crate::tool_call;

/// Longer than the id of any item.
const MAX_ITEM_ID: usize = 256;

/// An answer in progress.
#[derive(Debug)]
pub(crate) struct ResponsesAnswer {
    /// `None` before the response begins.
    accumulator: Option<Accumulator>,
    /// Whether the text of the current item arrived in pieces.
    is_streamed: bool,
    budget: ByteBudget,
    usage: Usage,
    model: Option<String>,
    id: Option<String>,
    call_items: Vec<(String, usize)>,
    error: Option<String>,
    saw_end: bool,
}

/// The fields of an event, which may come in any order.
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
            accumulator: None,
            is_streamed: false,
            budget: ByteBudget(limit),
            usage: Usage::default(),
            model: None,
            id: None,
            call_items: Vec::new(),
            error: None,
            saw_end: false,
        }
    }

    /// Reads one event.
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
            self.apply(&fields);
        }
    }

    /// Reads a whole body.
    pub(crate) fn body(&mut self, body: &str) {
        let Ok(response) = Json::parse(body) else { return };
        self.read_response(response);
        self.read_output(response);
        self.saw_end = self.accumulator.is_some();
    }

    pub(crate) fn saw_end(&self) -> bool {
        self.saw_end
    }

    /// The response's id, once the response has begun.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    pub(crate) fn finish(self) -> Answer {
        let complete = self.saw_end && self.error.is_none();
        let (usage, model, error) = (self.usage, self.model, self.error);
        let (id, call_items) = (self.id, self.call_items);
        Answer { answered: self.accumulator.map(Accumulator::finish), usage, model, error, complete, id, call_items }
    }

    fn apply(&mut self, event: &EventFields<'_>) {
        match event.kind.and_then(Json::text).as_deref() {
            Some("response.output_text.delta" | "response.refusal.delta") => {
                let piece = event.delta.and_then(Json::text).unwrap_or_default();
                self.accumulator.get_or_insert_default().push_text(&piece, &mut self.budget);
                self.is_streamed = true;
            }
            Some("response.output_item.done") => {
                let is_streamed = std::mem::take(&mut self.is_streamed);
                if let Some(item) = event.item {
                    self.read_item(item, is_streamed);
                }
            }
            Some("response.completed" | "response.incomplete" | "response.failed") => self.end(event),
            Some("error") => self.error = Some(event.error.or(event.message).map(error_text).unwrap_or_default()),
            // Gateways send errors without a type, or with one of another dialect.
            _ if event.error.is_some() => self.error = event.error.map(error_text),
            // Progress of the response, pieces of items and unknown events.
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
        // Some servers send no items before the whole response.
        if self.accumulator.as_ref().is_none_or(Accumulator::is_empty) {
            self.read_output(response);
        }
    }

    /// Reads everything of a response but its output.
    fn read_response(&mut self, response: Json<'_>) {
        self.accumulator.get_or_insert_default();
        response.fields(|key, value| match key {
            "id" => self.id = value.filled_text().map(Into::into),
            "model" => self.model = value.filled_text().map(Into::into),
            // Cannot fail: a `Json` is valid by construction.
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

    /// Reads a whole item. Its text is skipped if it arrived in pieces before. Reasoning is
    /// ignored: it is not part of the response.
    fn read_item(&mut self, item: Json<'_>, is_streamed: bool) {
        let accumulator = self.accumulator.get_or_insert_default();
        let kind = item.field("type").and_then(Json::text).unwrap_or_default();
        if kind.ends_with("_call") {
            let place = accumulator.calls();
            accumulator.push_call(&tool_call::read_item(item).call, &mut self.budget);
            if accumulator.calls() > place {
                self.call_items.extend(item.field("id").and_then(item_id).map(|id| (id, place)));
            }
        } else if kind == "message" && !is_streamed {
            let Some(content) = item.field("content") else { return };
            content.items(|part| {
                let text = part.field("text").or_else(|| part.field("refusal")).and_then(Json::text);
                accumulator.push_text(&text.unwrap_or_default(), &mut self.budget);
            });
        }
    }
}

/// The id of an item, unless it is too long.
fn item_id(id: Json<'_>) -> Option<String> {
    id.filled_text().filter(|id| id.len() <= MAX_ITEM_ID).map(Into::into)
}
