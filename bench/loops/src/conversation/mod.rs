//! Conversations without a provider's form, and how each form writes them.

mod anthropic;
mod chat_completions;
mod gemini;
mod kit;
mod responses;

pub(crate) use kit::{Client, Kit};

use serde_json::Value;

/// How requests and responses are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    ChatCompletions,
    Anthropic,
    Responses,
    Gemini,
}

/// A tool call that the model makes.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) input: Value,
}

/// A tool call with the id that links its result to it.
#[derive(Clone, Debug)]
pub(crate) struct Linked {
    pub(crate) id: String,
    pub(crate) tool: Tool,
}

/// What a tool gave back.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) id: String,
    /// The tool that gave it: Responses has other items for custom tools.
    pub(crate) tool: String,
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// What the model answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) calls: Vec<Linked>,
}

/// One conversation: its fixed part and the messages written so far, each as JSON of its form.
#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    pub(crate) form: Form,
    /// Every field of the request but the messages.
    head: serde_json::Map<String, Value>,
    messages: Vec<String>,
    /// How many of the messages the opening wrote.
    opening_messages: usize,
}

/// What a conversation begins with.
pub(crate) struct Opening<'a> {
    pub(crate) form: Form,
    pub(crate) model: &'a str,
    pub(crate) system: &'a str,
    /// The names of the tools on offer.
    pub(crate) tools: &'a [&'a str],
    /// The session id that the client sends, if it does.
    pub(crate) session: Option<String>,
}

impl Tool {
    pub(crate) fn new(name: &str, input: Value) -> Tool {
        Tool { name: name.to_owned(), input }
    }
}

impl Form {
    /// The forms that coding agents speak here.
    pub(crate) const CODING: [Form; 3] = [Form::ChatCompletions, Form::Anthropic, Form::Responses];

    /// The name in ids of runs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::ChatCompletions => "openai",
            Form::Anthropic => "anthropic",
            Form::Responses => "responses",
            Form::Gemini => "gemini",
        }
    }

    /// The `format` of a replay line.
    pub(crate) fn format(self) -> &'static str {
        match self {
            Form::Anthropic => "anthropic",
            Form::Gemini => "gemini",
            Form::ChatCompletions | Form::Responses => "openai",
        }
    }

    /// The field of a request that holds the messages.
    fn messages_key(self) -> &'static str {
        match self {
            Form::ChatCompletions | Form::Anthropic => "messages",
            Form::Responses => "input",
            Form::Gemini => "contents",
        }
    }

    /// The body of an answer.
    pub(crate) fn body(self, answer: &Answer, serial: u64) -> Value {
        match self {
            Form::ChatCompletions => chat_completions::body(answer, serial),
            Form::Anthropic => anthropic::body(answer, serial),
            Form::Responses => responses::body(answer, serial),
            Form::Gemini => gemini::body(answer, serial),
        }
    }
}

impl Conversation {
    pub(crate) fn open(opening: &Opening<'_>) -> Conversation {
        let (head, messages) = match opening.form {
            Form::ChatCompletions => chat_completions::head(opening),
            Form::Anthropic => anthropic::head(opening),
            Form::Responses => responses::head(opening),
            Form::Gemini => gemini::head(opening),
        };
        let (form, opening_messages) = (opening.form, messages.len());
        Conversation { form, head, messages: messages.iter().map(Value::to_string).collect(), opening_messages }
    }

    pub(crate) fn push_user(&mut self, text: &str) {
        let message = match self.form {
            Form::ChatCompletions => chat_completions::user(text),
            Form::Anthropic => anthropic::user(text),
            Form::Responses => responses::user(text),
            Form::Gemini => gemini::user(text),
        };
        self.messages.push(message.to_string());
    }

    pub(crate) fn push_answer(&mut self, answer: &Answer) {
        let messages = match self.form {
            Form::ChatCompletions => vec![chat_completions::assistant(answer)],
            Form::Anthropic => vec![anthropic::assistant(answer)],
            Form::Responses => responses::output(answer),
            Form::Gemini => vec![gemini::model(answer)],
        };
        self.messages.extend(messages.iter().map(Value::to_string));
    }

    pub(crate) fn push_outcomes(&mut self, outcomes: &[Outcome]) {
        self.push_outcomes_and_user(outcomes, None);
    }

    /// Results with a user message right behind them: Anthropic clients send both in one message.
    pub(crate) fn push_outcomes_and_user(&mut self, outcomes: &[Outcome], text: Option<&str>) {
        let messages = match self.form {
            Form::ChatCompletions => chat_completions::outcomes(outcomes, text),
            Form::Anthropic => vec![anthropic::outcomes(outcomes, text)],
            Form::Responses => responses::outcomes(outcomes, text),
            Form::Gemini => vec![gemini::outcomes(outcomes, text)],
        };
        self.messages.extend(messages.iter().map(Value::to_string));
    }

    /// Adds a field to every request of this conversation.
    pub(crate) fn set_field(&mut self, key: &str, value: Value) {
        self.head.insert(key.to_owned(), value);
    }

    /// Forgets all messages but those that the opening wrote, as compaction does.
    pub(crate) fn clear(&mut self) {
        self.messages.truncate(self.opening_messages);
    }

    /// The request as it is sent.
    pub(crate) fn request(&self) -> String {
        let key = self.form.messages_key();
        let head = Value::Object(self.head.clone()).to_string();
        let head = head.strip_suffix('}').unwrap_or(&head);
        format!(r#"{head},"{key}":[{}]}}"#, self.messages.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(form: Form) -> Conversation {
        let session = Some("s1".to_owned());
        let mut chat =
            Conversation::open(&Opening { form, model: "m", system: "You fix code.", tools: &["ls"], session });
        chat.push_user("Fix it.");
        let call = Linked { id: "c1".to_owned(), tool: Tool::new("ls", serde_json::json!({"path": "."})) };
        chat.push_answer(&Answer { text: "I look.".to_owned(), calls: vec![call] });
        let (id, tool) = ("c1".to_owned(), "ls".to_owned());
        let outcome = Outcome { id, tool, text: "a.rs".to_owned(), is_error: false };
        chat.push_outcomes_and_user(&[outcome], Some("Hurry."));
        chat
    }

    #[test]
    fn requests_are_json_of_their_form() {
        for form in [Form::ChatCompletions, Form::Anthropic, Form::Responses, Form::Gemini] {
            let request: Value = serde_json::from_str(&conversation(form).request()).unwrap();
            let written = request[form.messages_key()].to_string();
            for part in ["Fix it.", "I look.", "ls", "a.rs", "Hurry."] {
                assert!(written.contains(part), "{form:?} lacks {part}: {written}");
            }
            assert!(request["tools"].to_string().contains("ls"));
            assert!(request.to_string().contains("s1"));
        }
    }

    #[test]
    fn compaction_keeps_the_system_prompt() {
        for form in Form::CODING {
            let mut chat = conversation(form);
            chat.clear();
            let request = chat.request();
            assert!(request.contains("You fix code.") && !request.contains("Fix it."), "{request}");
        }
    }
}
