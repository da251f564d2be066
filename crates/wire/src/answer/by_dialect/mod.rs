//! An answer in progress, read in the dialect that it shows.

mod chat_completions;
mod cohere;
mod converse;
mod gemini;
mod messages;
mod ollama;
mod responses;

use crate::Dialect;
use crate::answer::Answer;
use crate::json::Json;
use chat_completions::ChatAnswer;
use cohere::CohereAnswer;
use converse::ConverseAnswer;
use gemini::GeminiAnswer;
use messages::MessagesAnswer;
use ollama::OllamaAnswer;
use responses::ResponsesAnswer;

/// An answer in progress.
#[derive(Debug)]
pub(crate) struct PartialAnswer {
    dialect: Dialect,
    /// Whether the answer has shown its dialect. `ChatAnswer` detects that itself while it reads.
    is_shown: bool,
    limit: usize,
    answer: ByDialect,
}

#[derive(Debug)]
enum ByDialect {
    Chat(ChatAnswer),
    Responses(ResponsesAnswer),
    Messages(MessagesAnswer),
    Gemini(GeminiAnswer),
    Ollama(OllamaAnswer),
    Converse(ConverseAnswer),
    Cohere(CohereAnswer),
}

impl ByDialect {
    fn new(dialect: Dialect, limit: usize) -> ByDialect {
        match dialect {
            Dialect::ChatCompletions | Dialect::Completions => ByDialect::Chat(ChatAnswer::new(limit)),
            Dialect::Responses => ByDialect::Responses(ResponsesAnswer::new(limit)),
            Dialect::Messages => ByDialect::Messages(MessagesAnswer::new(limit)),
            Dialect::Gemini => ByDialect::Gemini(GeminiAnswer::new(limit)),
            Dialect::Ollama => ByDialect::Ollama(OllamaAnswer::new(limit)),
            Dialect::Converse => ByDialect::Converse(ConverseAnswer::new(limit)),
            Dialect::Cohere => ByDialect::Cohere(CohereAnswer::new(limit)),
        }
    }
}

impl PartialAnswer {
    /// An empty answer, read as `dialect` until it shows another.
    pub(crate) fn new(dialect: Dialect, limit: usize) -> PartialAnswer {
        PartialAnswer { dialect, is_shown: false, limit, answer: ByDialect::new(dialect, limit) }
    }

    /// Reads an event's data, a line, or an array element.
    pub(crate) fn event(&mut self, data: &[u8]) {
        if let Ok(data) = simdutf8::basic::from_utf8(data) {
            self.read_event(data);
        }
    }

    fn read_event(&mut self, data: &str) {
        self.detect_dialect(data);
        match &mut self.answer {
            ByDialect::Chat(answer) => {
                let other = answer.event(data);
                if other.is_some_and(|other| self.switch_dialect(other, data)) {
                    self.read_event(data);
                }
            }
            ByDialect::Responses(answer) => answer.event(data),
            ByDialect::Messages(answer) => answer.event(data),
            ByDialect::Gemini(answer) => answer.event(data),
            ByDialect::Ollama(answer) => answer.event(data),
            ByDialect::Converse(answer) => answer.event(data),
            ByDialect::Cohere(answer) => answer.event(data),
        }
    }

    /// Reads a whole body.
    pub(crate) fn body(&mut self, body: &[u8]) {
        if let Ok(body) = simdutf8::basic::from_utf8(body) {
            self.read_body(body);
        }
    }

    fn read_body(&mut self, body: &str) {
        self.detect_dialect(body);
        match &mut self.answer {
            ByDialect::Chat(answer) => {
                let other = answer.body(body);
                if other.is_some_and(|other| self.switch_dialect(other, body)) {
                    self.read_body(body);
                }
            }
            ByDialect::Responses(answer) => answer.body(body),
            ByDialect::Messages(answer) => answer.body(body),
            ByDialect::Gemini(answer) => answer.body(body),
            ByDialect::Ollama(answer) => answer.event(body),
            ByDialect::Converse(answer) => answer.event(body),
            ByDialect::Cohere(answer) => answer.body(body),
        }
    }

    /// The dialect known so far.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The response id, if this is a stream of Responses.
    pub(crate) fn response_id(&self) -> Option<&str> {
        match &self.answer {
            ByDialect::Responses(answer) => answer.id(),
            _ => None,
        }
    }

    /// Whether a stream's terminal event has passed. Gemini's streams have no such event.
    pub(crate) fn saw_end(&self) -> bool {
        match &self.answer {
            ByDialect::Chat(answer) => answer.saw_end(),
            ByDialect::Responses(answer) => answer.saw_end(),
            ByDialect::Messages(answer) => answer.saw_end(),
            ByDialect::Gemini(_) => false,
            ByDialect::Ollama(answer) => answer.saw_end(),
            ByDialect::Converse(answer) => answer.saw_end(),
            ByDialect::Cohere(answer) => answer.saw_end(),
        }
    }

    /// Ends the answer.
    pub(crate) fn finish(self) -> Answer {
        match self.answer {
            ByDialect::Chat(answer) => answer.finish(),
            ByDialect::Responses(answer) => answer.finish(),
            ByDialect::Messages(answer) => answer.finish(),
            ByDialect::Gemini(answer) => answer.finish(),
            ByDialect::Ollama(answer) => answer.finish(),
            ByDialect::Converse(answer) => answer.finish(),
            ByDialect::Cohere(answer) => answer.finish(),
        }
    }

    /// Switches the dialect if `text` is the first to show one.
    fn detect_dialect(&mut self, text: &str) {
        if self.is_shown || matches!(self.answer, ByDialect::Chat(_)) {
            return;
        }
        if let Some(dialect) = Dialect::of_answer(text) {
            self.switch_dialect(dialect, text);
        }
    }

    /// Switches to the dialect that `text` shows, and says whether it did. An invalid text switches
    /// nothing: it may be the broken end of a stream, and the error that follows is in the dialect
    /// so far.
    fn switch_dialect(&mut self, dialect: Dialect, text: &str) -> bool {
        if dialect == self.dialect {
            self.is_shown = true;
            return false;
        }
        if Json::parse(text).is_err() {
            return false;
        }
        *self = PartialAnswer { is_shown: true, ..PartialAnswer::new(dialect, self.limit) };
        true
    }
}
