//! What a call says, read from its bodies by `wire`, for `guard` to fingerprint.

use std::borrow::Cow;

/// What a request asks, as far as the detector cares. Borrowed from the body where the body allows
/// it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Asked<'a> {
    /// The model that is asked.
    pub model: Option<Cow<'a, str>>,
    /// Whether the answer is to be streamed.
    pub streamed: bool,
    /// The most tokens that it may have.
    pub max_output: Option<u64>,
    /// The text of the last message that the user wrote, in the pieces it came in. Empty: there is
    /// none.
    pub prompt: Vec<Cow<'a, str>>,
    /// The raw JSON of what else that message carries: images, audio, files.
    pub attachments: Vec<&'a str>,
    /// The text that tells the turn, where the prompt does not: the task inside a prompt that holds
    /// its whole history, or the message that is worked on when the prompt only follows a tool's
    /// results (a reminder, queued input).
    pub turn_message: Option<Vec<Cow<'a, str>>>,
    /// How many turns there were before this one. A user's message that follows a tool's results
    /// begins none.
    pub turn_position: u32,
    /// How many messages follow the one that began the turn (the steps of work on it); for a prompt
    /// that holds its history, how many actions it shows.
    pub depth: u32,
    /// The raw JSON of the newest message, whatever it is.
    pub newest_message: &'a str,
    /// The tool calls of the turn's newest step, which this request answers with results.
    pub tool_calls: Vec<ToolCall<'a>>,
    /// The texts of those results, in the order of the calls where it can be told. Results without
    /// calls are of calls that the earlier answer made which this request goes on from.
    pub tool_results: Vec<Cow<'a, str>>,
    /// Whether those calls are written as text: in the message before the prompt, which is their
    /// result, or inside a prompt that holds its history.
    pub calls_are_written: bool,
    /// The text of the first message that the user wrote, if that is not the prompt itself.
    pub first_user_message: Option<Vec<Cow<'a, str>>>,
    /// The conversation's id, where the client put one into the body.
    pub session: Option<Cow<'a, str>>,
    /// What this request goes on from, if it carries only what is new.
    pub continues: Option<Continues<'a>>,
    /// The items of earlier answers, kept by the provider, that stand in the place of tool calls
    /// (`item_reference`).
    pub referenced_items: Vec<Cow<'a, str>>,
    /// Whether the provider keeps the answer for later requests to go on from.
    pub is_kept: bool,
}

impl<'a> Asked<'a> {
    /// What the conversation began with: tells conversations apart where the client does not.
    pub fn opening(&self) -> &[Cow<'a, str>] {
        self.first_user_message.as_ref().or(self.turn_message.as_ref()).unwrap_or(&self.prompt)
    }
}

/// What a request goes on from that carries only what is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Continues<'a> {
    /// The earlier answer with this id.
    Answer(Cow<'a, str>),
    /// The conversation with this id, which the provider keeps: its newest answer.
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
    /// The arguments as JSON text (as the model wrote them: they may be invalid).
    pub arguments: Cow<'a, str>,
}

/// What the model answered: its words and the tool calls that it made, never the envelope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// What it said.
    pub text: String,
    /// The calls it made, in order.
    pub tool_calls: Vec<ToolCall<'static>>,
}

impl Answered {
    /// Whether nothing was said and nothing called.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.tool_calls.is_empty()
    }
}

/// Tokens of one call, as the provider reported them, with one meaning whatever the format: parts
/// are always included in their whole. So a call costs `(input - cached - cache_write)` at the
/// price of input, `cached` and `cache_write` at their own, and `output` at the price of output;
/// `reasoning` has no price of its own. `None`: the provider did not say.
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
    /// The part of that which was written to be kept for long, at a higher price (Anthropic's hour
    /// instead of minutes).
    pub cache_write_long: Option<u64>,
    /// The part of the output that was reasoning.
    pub reasoning: Option<u64>,
}
