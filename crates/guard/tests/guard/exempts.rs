//! What does not count, once more and as plainly as it can be said: for the naive reference.

use model::{Counting, Exempt, Fingerprint};

/// What does not count now.
pub(crate) struct Exempts {
    pub(crate) in_force: Vec<Exempt>,
    pub(crate) counting: Counting,
}

impl Exempts {
    pub(crate) fn prompt(&self, call: &Fingerprint) -> bool {
        self.in_force.iter().any(|exempt| matches!(exempt, Exempt::Prompt(hash) if call.prompt == Some(*hash)))
    }

    pub(crate) fn step(&self, call: &Fingerprint) -> bool {
        let Some(step) = call.tools else { return false };
        self.in_force.iter().any(|exempt| match (exempt, self.counting) {
            (Exempt::ToolCall { literal, .. }, Counting::Literal) => *literal == step.literal,
            (Exempt::ToolCall { adaptive, .. }, Counting::Adaptive) => *adaptive == step.adaptive,
            (Exempt::Prompt(_), _) => false,
        })
    }

    pub(crate) fn answer(&self, call: &Fingerprint) -> bool {
        self.step(call) || call.tools.is_none() && self.prompt(call)
    }
}
