//! What has been read of an answer, in whatever dialect it turns out to be.

use crate::Dialect;
use crate::answer::Answer;
use crate::chat_completions::ChatAnswer;
use crate::gemini::GeminiAnswer;
use crate::messages::MessagesAnswer;
use crate::ollama::OllamaAnswer;
use crate::responses::ResponsesAnswer;

/// An answer as far as it has come.
#[derive(Debug)]
pub(crate) struct Gathered {
    dialect: Dialect,
    /// Whether the answer itself has shown its dialect. Chat Completions notice that while they are read.
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
}

impl ByDialect {
    fn new(dialect: Dialect, limit: usize) -> ByDialect {
        match dialect {
            Dialect::ChatCompletions | Dialect::Completions => ByDialect::Chat(ChatAnswer::new(limit)),
            Dialect::Responses => ByDialect::Responses(ResponsesAnswer::new(limit)),
            Dialect::Messages => ByDialect::Messages(MessagesAnswer::new(limit)),
            Dialect::Gemini => ByDialect::Gemini(GeminiAnswer::new(limit)),
            Dialect::Ollama => ByDialect::Ollama(OllamaAnswer::new(limit)),
        }
    }
}

impl Gathered {
    /// Nothing yet. `dialect` holds until the answer shows another.
    pub(crate) fn new(dialect: Dialect, limit: usize) -> Gathered {
        Gathered { dialect, is_shown: false, limit, answer: ByDialect::new(dialect, limit) }
    }

    /// The data of an event, a line, or an element of an array.
    pub(crate) fn event(&mut self, data: &[u8]) {
        if let Ok(data) = simdutf8::basic::from_utf8(data) {
            self.read_event(data);
        }
    }

    fn read_event(&mut self, data: &str) {
        self.look_at(data);
        match &mut self.answer {
            ByDialect::Chat(answer) => {
                if let Some(other) = answer.event(data) {
                    self.turn_to(other);
                    self.read_event(data);
                }
            }
            ByDialect::Responses(answer) => answer.event(data),
            ByDialect::Messages(answer) => answer.event(data),
            ByDialect::Gemini(answer) => answer.event(data),
            ByDialect::Ollama(answer) => answer.event(data),
        }
    }

    /// A whole body.
    pub(crate) fn body(&mut self, body: &[u8]) {
        if let Ok(body) = simdutf8::basic::from_utf8(body) {
            self.read_body(body);
        }
    }

    fn read_body(&mut self, body: &str) {
        self.look_at(body);
        match &mut self.answer {
            ByDialect::Chat(answer) => {
                if let Some(other) = answer.body(body) {
                    self.turn_to(other);
                    self.read_body(body);
                }
            }
            ByDialect::Responses(answer) => answer.body(body),
            ByDialect::Messages(answer) => answer.body(body),
            ByDialect::Gemini(answer) => answer.body(body),
            ByDialect::Ollama(answer) => answer.event(body),
        }
    }

    /// The dialect, as far as it is known.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The id that a stream of Responses says first.
    pub(crate) fn response_id(&self) -> Option<&str> {
        match &self.answer {
            ByDialect::Responses(answer) => answer.id(),
            _ => None,
        }
    }

    /// Whether a stream's terminal event has passed. Gemini's streams have none.
    pub(crate) fn saw_end(&self) -> bool {
        match &self.answer {
            ByDialect::Chat(answer) => answer.saw_end(),
            ByDialect::Responses(answer) => answer.saw_end(),
            ByDialect::Messages(answer) => answer.saw_end(),
            ByDialect::Gemini(_) => false,
            ByDialect::Ollama(answer) => answer.saw_end(),
        }
    }

    /// What was read.
    pub(crate) fn finish(self) -> Answer {
        match self.answer {
            ByDialect::Chat(answer) => answer.finish(),
            ByDialect::Responses(answer) => answer.finish(),
            ByDialect::Messages(answer) => answer.finish(),
            ByDialect::Gemini(answer) => answer.finish(),
            ByDialect::Ollama(answer) => answer.finish(),
        }
    }

    /// Until the answer has shown its dialect: does it now?
    fn look_at(&mut self, text: &str) {
        if self.is_shown || matches!(self.answer, ByDialect::Chat(_)) {
            return;
        }
        if let Some(dialect) = Dialect::of_answer(text) {
            self.turn_to(dialect);
        }
    }

    fn turn_to(&mut self, dialect: Dialect) {
        self.is_shown = true;
        if dialect == self.dialect {
            return;
        }
        self.dialect = dialect;
        self.answer = ByDialect::new(dialect, self.limit);
    }
}
