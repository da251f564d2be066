//! The stuck rules of OpenHands: over the last 20 events since the user's last message, the same
//! action and observation four times, the same action with an error four times (three bring a
//! nudge), three equal messages of the agent in a row, or two actions and observations that
//! alternate over six steps. Thoughts belong to actions.

use std::collections::{HashMap, VecDeque};

use super::Detector;
use crate::reading::{Answered, Asked, ToolResult};

const EVENTS: usize = 20;

/// One step: an action with what it gave, or a message.
#[derive(Clone, PartialEq)]
struct Step {
    action: Answered,
    results: Option<Vec<ToolResult>>,
}

/// The steps of each conversation since the user's last message.
#[derive(Default)]
pub(crate) struct OpenHands {
    conversations: HashMap<String, Conversation>,
}

#[derive(Default)]
struct Conversation {
    user_messages: usize,
    steps: VecDeque<Step>,
}

impl Detector for OpenHands {
    fn stops(&mut self, asked: &Asked) -> bool {
        let conversation = self.conversations.entry(asked.conversation.clone()).or_default();
        if asked.user_messages != conversation.user_messages {
            conversation.steps.clear();
            conversation.user_messages = asked.user_messages;
        } else if let Some(newest) = conversation.steps.back_mut()
            && !asked.results.is_empty()
        {
            newest.results = Some(asked.results.clone());
        }
        is_stuck(&conversation.steps)
    }

    fn settle(&mut self, asked: &Asked, answered: Option<&Answered>) {
        let Some(answered) = answered else { return };
        let conversation = self.conversations.entry(asked.conversation.clone()).or_default();
        conversation.steps.push_back(Step { action: answered.clone(), results: None });
        // An action and its observation are two events.
        if conversation.steps.len() > EVENTS / 2 {
            conversation.steps.pop_front();
        }
    }
}

fn is_stuck(steps: &VecDeque<Step>) -> bool {
    let newest: Vec<&Step> = steps.iter().rev().collect();
    same_step(&newest) || same_error(&newest) || monologue(&newest) || alternates(&newest)
}

fn same_step(newest: &[&Step]) -> bool {
    newest.len() >= 4 && newest[0].results.is_some() && newest[1..4].iter().all(|step| *step == newest[0])
}

fn same_error(newest: &[&Step]) -> bool {
    let failed = |step: &&Step| step.results.iter().flatten().any(|result| result.is_error);
    newest.len() >= 4
        && newest[..4].iter().all(failed)
        && newest[1..4].iter().all(|step| step.action == newest[0].action)
}

fn monologue(newest: &[&Step]) -> bool {
    let is_message = |step: &&Step| step.action.calls.is_empty() && step.results.is_none();
    newest.len() >= 3 && newest[..3].iter().all(is_message) && newest[1..3].iter().all(|step| *step == newest[0])
}

fn alternates(newest: &[&Step]) -> bool {
    newest.len() >= 6
        && newest[..6].iter().all(|step| step.results.is_some())
        && [2, 4].iter().all(|place| newest[*place] == newest[0] && newest[place + 1] == newest[1])
}
