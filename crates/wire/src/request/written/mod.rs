//! Agents that write their actions as text, and agents that write their whole history into one
//! prompt. Both are read as tool calls and results.

mod action;
mod command_lines;
mod fenced_blocks;
mod headings;
mod json_action;
mod labels;
mod model_text;
mod page;
mod parts;
mod scratchpad;
mod tags;

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::{self, Finder};
use model::ToolCall;

use crate::content::Content;
use crate::json::Json;

pub(crate) use action::{announced as announced_action, inline as inline_action};

/// Every prompt with a history contains one of these.
static MARKS: LazyLock<[Finder<'static>; 6]> = LazyLock::new(|| {
    ["bservation", "BSERVATION", "istory", "revious ", "ast action", "our task is to:"].map(Finder::new)
});

/// A history inside one prompt.
#[derive(Debug)]
struct History<'t> {
    /// The task, which stays the same from step to step.
    task: String,
    /// The newest action and its result, unless an earlier request reported them.
    step: Option<(ToolCall<'static>, Vec<&'t str>)>,
    /// The number of visible actions.
    actions: u32,
}

/// The newest step, read from text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WrittenStep<'a> {
    pub(crate) calls: Vec<ToolCall<'static>>,
    pub(crate) results: Vec<Cow<'a, str>>,
}

/// A prompt that holds its whole history.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WrittenHistory<'a> {
    /// The task, which stays the same from step to step.
    pub(crate) task: String,
    pub(crate) step: WrittenStep<'a>,
    /// The number of visible actions.
    pub(crate) actions: u32,
}

impl<'a> WrittenHistory<'a> {
    /// Reads the history in a prompt. `None` if there is none.
    pub(crate) fn of_prompt(prompt: &Content<'a>) -> Option<WrittenHistory<'a>> {
        // Most prompts hold none, so check before copying. A history has more than one line.
        let has_lines =
            prompt.texts.len() > 1 || prompt.texts.iter().any(|text| memchr(b'\n', text.as_bytes()).is_some());
        let is_marked = |text: &str| MARKS.iter().any(|mark| mark.find(text.as_bytes()).is_some());
        if !has_lines || !prompt.texts.iter().any(|text| is_marked(text)) {
            return None;
        }
        let text = joined(&prompt.texts);
        let history = page::read(&text, !prompt.attachments.is_empty())
            .or_else(|| scratchpad::read(&text))
            .or_else(|| command_lines::read(&text))?;
        let step = match history.step {
            Some((call, results)) => WrittenStep { calls: vec![call], results: observed(&results, prompt) },
            None => WrittenStep::default(),
        };
        Some(WrittenHistory { task: history.task, step, actions: history.actions })
    }
}

/// The actions in an answer of the model.
pub(crate) fn actions_of(answer: &str) -> Vec<ToolCall<'static>> {
    model_text::read(answer).calls
}

/// What an answer of any layout does, if its thoughts are named as such.
pub(crate) fn action_besides_thoughts(answer: &str) -> Option<ToolCall<'static>> {
    parts::action_besides_thoughts(answer).or_else(|| json_action::besides_thoughts(answer))
}

/// Visits the texts and numbers in an object, or else the whole text.
pub(crate) fn for_each_value(text: &str, visit: &mut impl FnMut(&str)) {
    json_action::for_each_value(text, visit);
}

/// What a tool call does, without the thoughts among its arguments.
pub(crate) fn of_tool_call(call: &ToolCall<'_>) -> Vec<ToolCall<'static>> {
    json_action::of_tool_call(call, model_text::MAX_ACTIONS)
}

/// Whether a prompt that holds its history shows the current page instead of all results.
pub(crate) fn shows_page(prompt: &str) -> bool {
    page::read(prompt, false).is_some()
}

/// The observation: texts and pictures.
fn observed<'a>(texts: &[&str], prompt: &Content<'a>) -> Vec<Cow<'a, str>> {
    let texts = texts.iter().map(|text| Cow::Owned(page::comparable(text).into_owned()));
    texts.chain(prompt.attachments.iter().map(|attachment| Cow::Borrowed(*attachment))).collect()
}

impl<'a> WrittenStep<'a> {
    /// Reads the actions in the model's message right before the prompt. The prompt is their
    /// result.
    pub(crate) fn before_prompt(said: Json<'_>, prompt: &Content<'a>) -> WrittenStep<'a> {
        if !model_text::may_act(said) {
            return WrittenStep::default();
        }
        let texts = Content::read(said).texts;
        let acted = model_text::read(&joined(&texts)).calls;
        if acted.is_empty() {
            return WrittenStep::default();
        }
        let results = prompt.texts.iter().map(|text| page_of(text).unwrap_or_else(|| model_text::result_of(text)));
        let pictures = prompt.attachments.iter().map(|attachment| Cow::Borrowed(*attachment));
        WrittenStep { calls: acted, results: results.chain(pictures).collect() }
    }

    /// Whether the prompt is labelled as a result.
    pub(crate) fn is_result(prompt: &Content<'_>) -> bool {
        prompt.texts.first().is_some_and(|text| model_text::without_label(text).is_some())
    }

    /// Reads an action whose result the agent appended to the model's message.
    pub(crate) fn with_observation(said: Json<'_>) -> Option<WrittenStep<'static>> {
        MARKS[..2].iter().find(|mark| mark.find(said.raw().as_bytes()).is_some())?;
        let texts = Content::read(said).texts;
        let text = joined(&texts);
        let acted = model_text::read(&text);
        let observation = acted.observation?.to_owned();
        Some(WrittenStep { calls: acted.calls, results: vec![Cow::Owned(observation)] })
    }
}

/// The page in a text of a browser agent, without the parts that change although the page does not.
/// `None` if the text shows no page.
pub(crate) fn page_of<'a>(text: &str) -> Option<Cow<'a, str>> {
    const SIGNS: [&str; 4] = ["[Current state starts here]", "Interactive elements", "Current url", "Current URL"];
    let is_page = || SIGNS.iter().any(|sign| memmem::find(text.as_bytes(), sign.as_bytes()).is_some());
    let page = model_text::without_label(text).or_else(|| is_page().then_some(text))?;
    Some(Cow::Owned(page::comparable(page).into_owned()))
}

/// Joins the pieces of a text.
fn joined<'t>(texts: &'t [Cow<'_, str>]) -> Cow<'t, str> {
    match texts {
        [] => Cow::Borrowed(""),
        [text] => Cow::Borrowed(text),
        _ => Cow::Owned(texts.join("\n")),
    }
}
