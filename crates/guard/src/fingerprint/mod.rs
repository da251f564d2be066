//! Makes fingerprints of requests and of their answers.

use model::{Asked, CallId, ConversationId, Fingerprint, Novelty, Step, TextHash, Timestamp, ToolStep, Turn};
use twox_hash::XxHash3_64;

mod answer;
mod arguments;
mod digest;
mod kind;
pub(crate) mod normalise;
mod print_cache;
mod prompt;
mod result;
pub(crate) mod simhash;
mod talk;
#[cfg(test)]
mod tests;
mod tool_step;
mod vocabulary;
mod written_action;

pub(crate) use answer::of_answer;
pub(crate) use prompt::{PromptPrint, of_prompt};
pub(crate) use result::lines::have_most_in_common;

use digest::fold;
use tool_step::tool_step;

/// The part of a fingerprint that the request alone decides, made before the agent is locked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RequestPrint {
    pub(crate) conversation: ConversationId,
    pub(crate) body: u64,
    pub(crate) prompt: Option<TextHash>,
    pub(crate) prompt_is_short: bool,
    pub(crate) prompt_is_error: bool,
    pub(crate) prompt_is_common: bool,
    pub(crate) turn: Turn,
    pub(crate) step: Step,
    pub(crate) tools: Option<ToolStep>,
    /// Whether no tool was used and nothing new was said.
    pub(crate) is_idle: bool,
    /// How many seconds of waiting the tools report.
    pub(crate) waited: u16,
}

impl RequestPrint {
    /// The part of `print` that its request decided. The call must not have a result yet.
    pub(crate) fn of_arrived(print: &Fingerprint) -> RequestPrint {
        RequestPrint {
            conversation: print.conversation,
            body: print.body,
            prompt: print.prompt,
            prompt_is_short: print.prompt_is_short,
            prompt_is_error: print.prompt_is_error,
            prompt_is_common: print.prompt_is_common,
            turn: print.turn,
            step: print.step,
            tools: print.tools,
            is_idle: print.novelty == Novelty::Idle,
            waited: print.silence,
        }
    }

    /// The fingerprint of a call with this request, before it has a result.
    pub(crate) fn arrived(&self, call: CallId, number: u64, time: Timestamp) -> Fingerprint {
        Fingerprint {
            conversation: self.conversation,
            body: self.body,
            prompt: self.prompt,
            prompt_is_short: self.prompt_is_short,
            prompt_is_error: self.prompt_is_error,
            prompt_is_common: self.prompt_is_common,
            turn: self.turn,
            step: self.step,
            tools: self.tools,
            silence: self.waited,
            novelty: if self.is_idle { Novelty::Idle } else { Novelty::Neutral },
            ..Fingerprint::new(call, number, time)
        }
    }
}

/// The print of a request whose bytes have the hash `body`.
pub(crate) fn of_request(conversation: &str, body: u64, asked: &Asked<'_>, prompt: PromptPrint) -> RequestPrint {
    let (tools, waited) = tool_step(asked).map_or((None, 0), |(step, waited)| (Some(step), waited));
    RequestPrint {
        waited,
        conversation: conversation_id(conversation),
        body,
        prompt: prompt.similar,
        prompt_is_short: prompt.is_short,
        prompt_is_error: prompt.is_error,
        prompt_is_common: prompt.is_common && !conversation.starts_with(ConversationId::BY_FIRST_WORDS),
        turn: Turn { message: prompt.exact, position: asked.turn_position },
        step: Step { depth: asked.depth, newest: newest_step(tools, asked.newest_message) },
        tools,
        is_idle: tools.is_none() && talk::is_idle(&asked.talk),
    }
}

/// The id of the conversation that is called `name`.
pub fn conversation_id(name: &str) -> ConversationId {
    ConversationId(XxHash3_64::oneshot(name.as_bytes()))
}

/// Identifies a tool step by its calls and results, since clients rewrite the messages that carry
/// it.
fn newest_step(tools: Option<ToolStep>, newest_message: &str) -> u64 {
    match tools.filter(|step| !step.is_written) {
        Some(step) => step_hash(step.adaptive, step.result.kept),
        None => XxHash3_64::oneshot(newest_message.as_bytes()),
    }
}

/// The hash of a tool step, from the hashes of its calls and its results.
pub(crate) fn step_hash(adaptive: u64, kept: u32) -> u64 {
    fold(adaptive, u64::from(kept))
}
