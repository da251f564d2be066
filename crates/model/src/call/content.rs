//! The content of a call, read from its bodies by `wire` and fingerprinted by `guard`.

use std::borrow::Cow;

/// The parts of a request that the detector uses. Borrowed from the body where possible.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked<'a> {
    /// The requested model.
    pub model: Option<Cow<'a, str>>,
    /// Whether the answer is to be streamed.
    pub streamed: bool,
    /// The limit on output tokens.
    pub max_output: Option<u64>,
    /// The text of the user's last message, in the pieces it came in. Empty if there is none.
    pub prompt: Vec<Cow<'a, str>>,
    /// The raw JSON of the other parts of that message: images, audio, files.
    pub attachments: Vec<&'a str>,
    /// The text that identifies the turn if the prompt does not: the task inside a prompt that
    /// holds its whole history, or the message being worked on if the prompt only follows a tool's
    /// results (a reminder, queued input).
    pub turn_message: Option<Vec<Cow<'a, str>>>,
    /// The number of turns before this one. A user's message that follows a tool's results begins
    /// no turn.
    pub turn_position: u32,
    /// The number of messages after the one that began the turn (the steps of work on it); for a
    /// prompt that holds its history, the number of actions in it.
    pub depth: u32,
    /// The raw JSON of the newest message, of any role.
    pub newest_message: &'a str,
    /// The tool calls of the turn's newest step, whose results this request reports.
    pub tool_calls: Vec<ToolCall<'a>>,
    /// The texts of those results, in the order of the calls where it is known. Results without
    /// calls belong to calls in the earlier answer that this request continues.
    pub tool_results: Vec<Cow<'a, str>>,
    /// Whether one of them is marked as failed.
    pub has_failed_results: bool,
    /// Whether those calls are written as text: in the message before the prompt, which is their
    /// result, or inside a prompt that holds its history.
    pub calls_are_written: bool,
    /// The texts of the newest messages since a tool was last used, oldest first, up to the prompt.
    /// Empty if a tool was used since the model's last message.
    pub talk: Vec<Cow<'a, str>>,
    /// The text of the user's first message, unless it is the prompt itself.
    pub first_user_message: Option<Vec<Cow<'a, str>>>,
    /// The conversation's id, if the body has one.
    pub session: Option<Cow<'a, str>>,
    /// The person the call is made for, if the client names one but no conversation.
    pub person: Option<Cow<'a, str>>,
    /// What this request continues, if it carries only new messages.
    pub continues: Option<Continues<'a>>,
    /// Items of earlier answers, kept by the provider, that replace tool calls (`item_reference`).
    pub referenced_items: Vec<Cow<'a, str>>,
    /// Whether the provider keeps the answer for later requests to continue.
    pub is_kept: bool,
}

impl<'a> Asked<'a> {
    /// The opening message: it identifies the conversation if the client does not.
    pub fn opening(&self) -> &[Cow<'a, str>] {
        self.first_user_message.as_ref().or(self.turn_message.as_ref()).unwrap_or(&self.prompt)
    }
}

/// What a request continues that carries only new messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Continues<'a> {
    /// The answer with this id.
    Answer(Cow<'a, str>),
    /// The newest answer of the conversation with this id, which the provider keeps.
    Conversation(Cow<'a, str>),
}

impl Continues<'_> {
    /// The id.
    pub fn id(&self) -> &str {
        match self {
            Continues::Answer(id) | Continues::Conversation(id) => id,
        }
    }
}

/// One tool call that a model made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall<'a> {
    /// The tool's name.
    pub name: Cow<'a, str>,
    /// The arguments as JSON text, as the model wrote them: they may be invalid.
    pub arguments: Cow<'a, str>,
}

/// A model's answer: its text and tool calls, without the envelope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// The text.
    pub text: String,
    /// The tool calls, in order.
    pub tool_calls: Vec<ToolCall<'static>>,
}

impl Answered {
    /// Whether it has neither text nor tool calls.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.tool_calls.is_empty()
    }
}

/// Tokens of one call, as the provider reported them, with one meaning for all formats: parts are
/// always included in their whole. A call costs `(input - cached - cache_write)` at the price of
/// input, `cached` and `cache_write` at their own, and `output` at the price of output; `reasoning`
/// has no price of its own. `None` if the provider did not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All input tokens, cached ones included.
    pub input: Option<u64>,
    /// All output tokens, reasoning included.
    pub output: Option<u64>,
    /// The part of the input that was read from the provider's cache.
    pub cached: Option<u64>,
    /// The part of the input that was written to the provider's cache.
    pub cache_write: Option<u64>,
    /// The part of `cache_write` that is kept longer, at a higher price (Anthropic's hour instead
    /// of minutes).
    pub cache_write_long: Option<u64>,
    /// The part of the output that was reasoning.
    pub reasoning: Option<u64>,
}
