//! The two rules of gemini-cli that need no model: five identical tool calls in a row, and the same
//! fifty characters ten times close together in what the model writes ("chanting"). Its third rule
//! asks a model and is left out.

use std::collections::HashMap;

use super::Detector;
use crate::reading::{Answered, Asked, ToolUse};

const CALLS: usize = 5;
const CHUNK: usize = 50;
const CHUNKS: usize = 10;
/// The mean distance of equal chunks at which it is chanting.
const DISTANCE: usize = 250;
const HISTORY: usize = 5_000;

/// What the current turn of each conversation did.
#[derive(Default)]
pub(crate) struct GeminiCli {
    turns: HashMap<String, Turn>,
}

#[derive(Default)]
struct Turn {
    user_messages: usize,
    last: Option<ToolUse>,
    in_a_row: usize,
    text: Vec<char>,
    is_looping: bool,
}

impl Detector for GeminiCli {
    fn stops(&mut self, asked: &Asked) -> bool {
        let turn = self.turns.entry(asked.conversation.clone()).or_default();
        // Everything starts anew with the user's next words.
        if asked.user_messages != turn.user_messages {
            *turn = Turn { user_messages: asked.user_messages, ..Turn::default() };
        }
        turn.is_looping
    }

    fn settle(&mut self, asked: &Asked, answered: Option<&Answered>) {
        let Some(answered) = answered else { return };
        let turn = self.turns.entry(asked.conversation.clone()).or_default();
        turn.read_text(&answered.text);
        for call in &answered.calls {
            turn.read_call(call);
        }
    }
}

impl Turn {
    fn read_call(&mut self, call: &ToolUse) {
        self.text.clear();
        self.in_a_row = if self.last.as_ref() == Some(call) { self.in_a_row + 1 } else { 1 };
        self.last = Some(call.clone());
        self.is_looping |= self.in_a_row >= CALLS;
    }

    fn read_text(&mut self, text: &str) {
        // Code, tables and lists repeat themselves by nature.
        let is_structured = text.lines().any(|line| {
            let line = line.trim_start();
            line.starts_with("```") || line.starts_with(['|', '#', '-', '*', '+'])
        });
        if is_structured {
            self.text.clear();
            return;
        }
        self.text.extend(text.chars());
        let surplus = self.text.len().saturating_sub(HISTORY);
        self.text.drain(..surplus);
        self.is_looping |= is_chanting(&self.text);
    }
}

fn is_chanting(text: &[char]) -> bool {
    let mut places: HashMap<&[char], Vec<usize>> = HashMap::new();
    for (place, chunk) in text.windows(CHUNK).enumerate() {
        places.entry(chunk).or_default().push(place);
    }
    places.values().any(|places| {
        let newest = &places[places.len().saturating_sub(CHUNKS)..];
        newest.len() >= CHUNKS && (newest[CHUNKS - 1] - newest[0]) / (CHUNKS - 1) <= DISTANCE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chanting_is_the_same_text_close_together() {
        let chant: Vec<char> =
            "I will stop looping now and write the answer to the file. ".repeat(12).chars().collect();
        assert!(is_chanting(&chant));
        let prose: Vec<char> = (0..200).flat_map(|word| format!("word{word} ").chars().collect::<Vec<_>>()).collect();
        assert!(!is_chanting(&prose));
    }
}
