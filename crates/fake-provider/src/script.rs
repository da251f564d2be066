//! The script of a provider: its answers, their pieces and their faults.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use serde_json::Value;

use crate::asking::Asking;
use crate::output::{Call, Output};

/// The behaviour for all requests.
#[derive(Clone)]
pub enum Script {
    /// The same for every request.
    Fixed(Arc<Behaviour>),
    /// Chosen for each request.
    Chosen(Arc<dyn Fn(&Asking<'_>) -> Behaviour + Send + Sync>),
}

impl Script {
    /// A behaviour that `choose` picks for each request.
    pub fn chosen(choose: impl Fn(&Asking<'_>) -> Behaviour + Send + Sync + 'static) -> Script {
        Script::Chosen(Arc::new(choose))
    }

    pub(crate) fn behaviour(&self, asking: &Asking<'_>) -> Behaviour {
        match self {
            Script::Fixed(behaviour) => Behaviour::clone(behaviour),
            Script::Chosen(choose) => choose(asking),
        }
    }
}

impl From<Behaviour> for Script {
    fn from(behaviour: Behaviour) -> Script {
        Script::Fixed(Arc::new(behaviour))
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Script::Fixed(behaviour) => f.debug_tuple("Fixed").field(behaviour).finish(),
            Script::Chosen(_) => f.write_str("Chosen(…)"),
        }
    }
}

/// How one request is answered.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// The answer.
    pub answer: Answer,
    /// The number of pieces of a streamed answer.
    pub chunks: usize,
    /// The delay before each piece.
    pub delay: Duration,
    /// The fault, if any.
    pub fault: Option<Fault>,
}

impl Default for Behaviour {
    fn default() -> Self {
        Behaviour { answer: Answer::Assistant, chunks: 4, delay: Duration::ZERO, fault: None }
    }
}

impl Behaviour {
    /// Says `text`.
    pub fn text(text: &str) -> Behaviour {
        Behaviour { answer: Answer::Text(text.into()), ..Behaviour::default() }
    }

    /// Calls one tool.
    pub fn tool_call(name: &str, arguments: Value) -> Behaviour {
        let call = Call { name: name.to_owned(), arguments };
        Behaviour { answer: Answer::ToolCalls(vec![call]), ..Behaviour::default() }
    }

    /// Fails.
    pub fn fault(fault: Fault) -> Behaviour {
        Behaviour { fault: Some(fault), ..Behaviour::default() }
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Calls the first offered tool; after a result, or without tools, answers with text.
    Assistant,
    /// This text.
    Text(Arc<str>),
    /// No text, and these tool calls.
    ToolCalls(Vec<Call>),
    /// The user's last message.
    Echo,
}

/// The fault of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This status and an error in the request's format.
    Status(StatusCode),
    /// The connection breaks after this many bytes of the body.
    DieAfter(usize),
    /// Silence after this many bytes of the body.
    StallAfter(usize),
    /// Silence from the beginning, without a status.
    Stall,
}

const SAID: &str = "I looked into it, and this is what I found: everything is in order.";

impl Answer {
    /// The content for one request.
    pub(crate) fn output(&self, asking: &Asking<'_>) -> Output {
        match self {
            Answer::Text(text) => Output::Text(Arc::clone(text)),
            Answer::ToolCalls(calls) => Output::Calls(calls.clone()),
            Answer::Echo => Output::Text(asking.last_user_text().into()),
            Answer::Assistant => match asking.tool_on_offer() {
                Some(call) => Output::Calls(vec![call]),
                None => Output::Text(SAID.into()),
            },
        }
    }
}
