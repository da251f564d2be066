//! N identical tool calls in a row, name and arguments: what most agents have (opencode 3, Cline 3
//! and 5, Roo Code 4).

use std::collections::HashMap;

use super::Detector;
use crate::reading::{Answered, Asked, ToolUse};

/// Counts the identical calls in a row of each conversation.
pub(crate) struct IdenticalCalls {
    limit: usize,
    rows: HashMap<String, (ToolUse, usize)>,
}

impl IdenticalCalls {
    pub(crate) fn new(limit: usize) -> IdenticalCalls {
        IdenticalCalls { limit, rows: HashMap::new() }
    }
}

impl Detector for IdenticalCalls {
    fn stops(&mut self, asked: &Asked) -> bool {
        self.rows.get(&asked.conversation).is_some_and(|(_, count)| *count >= self.limit)
    }

    fn settle(&mut self, asked: &Asked, answered: Option<&Answered>) {
        for call in answered.iter().flat_map(|answered| &answered.calls) {
            let row = self.rows.entry(asked.conversation.clone()).or_insert_with(|| (call.clone(), 0));
            *row = (call.clone(), if row.0 == *call { row.1 + 1 } else { 1 });
        }
    }
}
