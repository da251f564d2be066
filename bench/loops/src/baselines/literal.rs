//! The formula taken literally: every request counts, every number is masked. `score = similar
//! prompts × 1.0 + similar responses × 2.0 + repeated tool calls × 1.5` over the last 20 calls, of
//! the agent and of each conversation; more than 10 stops.

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::Detector;
use super::simhash::{is_similar, simhash};
use crate::reading::{Answered, Asked, ToolUse};

const WINDOW: usize = 20;
const THRESHOLD: f64 = 10.0;

/// The windows of one agent.
#[derive(Default)]
pub(crate) struct Literal {
    agent: Window,
    conversations: HashMap<String, Window>,
}

#[derive(Default)]
struct Window {
    calls: VecDeque<Fingerprint>,
    newest_response: Option<u64>,
}

#[derive(Clone, Default)]
struct Fingerprint {
    prompt: Option<u64>,
    response: Option<u64>,
    tools: BTreeSet<(String, String)>,
}

impl Detector for Literal {
    fn stops(&mut self, asked: &Asked) -> bool {
        let fingerprint =
            Fingerprint { prompt: simhash(&asked.prompt), response: None, tools: signature(&asked.sent_back) };
        let conversation = self.conversations.entry(asked.conversation.clone()).or_default();
        let score = self.agent.take(fingerprint.clone()).max(conversation.take(fingerprint));
        score > THRESHOLD
    }

    fn settle(&mut self, asked: &Asked, answered: Option<&Answered>) {
        let Some(answered) = answered else { return };
        let calls: Vec<String> =
            answered.calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect();
        let response = simhash(&format!("{} {}", answered.text, calls.join(" ")));
        let conversation = self.conversations.entry(asked.conversation.clone()).or_default();
        for window in [&mut self.agent, conversation] {
            window.newest_response = response;
            if let Some(newest) = window.calls.back_mut() {
                newest.response = response;
            }
        }
    }
}

impl Window {
    /// Adds a call and scores it.
    fn take(&mut self, call: Fingerprint) -> f64 {
        if self.calls.len() == WINDOW {
            self.calls.pop_front();
        }
        let prompts = self.calls.iter().filter(|past| is_similar(past.prompt, call.prompt)).count();
        let tools = self.calls.iter().filter(|past| !call.tools.is_empty() && past.tools == call.tools).count();
        let responses = self.calls.iter().filter(|past| is_similar(past.response, self.newest_response)).count();
        self.calls.push_back(call);
        // The newest response is like itself.
        prompts as f64 + 2.0 * responses.saturating_sub(1) as f64 + 1.5 * tools as f64
    }
}

fn signature(calls: &[ToolUse]) -> BTreeSet<(String, String)> {
    calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect()
}
