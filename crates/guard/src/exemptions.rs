//! Exemptions of one agent. They remove marks after the rules have run, so that agents without an
//! exemption have no cost.

use model::{Counting, Exempt, ExemptKind, Exemption, Fingerprint};

use crate::judge::{Judge, Marks};

/// What does not count for one agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Exemptions(Box<[Exemption]>);

impl From<Vec<Exemption>> for Exemptions {
    fn from(mut exemptions: Vec<Exemption>) -> Exemptions {
        exemptions.truncate(Exemption::MOST);
        Exemptions(exemptions.into())
    }
}

impl Exemptions {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the exempt ones from `marks`, which `judge` gave to the calls that it considered.
    pub(crate) fn lift(&self, judge: &Judge<'_>, marks: &mut [Marks]) {
        if self.is_empty() {
            return;
        }
        let current = Fingerprint::from(judge.current_call());
        let exempts: Vec<Exempt> = self.0.iter().filter(|it| current.time < it.until).map(|it| it.exempt).collect();
        if exempts.is_empty() {
            return;
        }
        let in_force = InForce { exempts, counting: judge.counting };
        let newest = judge.newest_response().map(Fingerprint::from);
        let lifts_prompts = in_force.has_prompt(&current) || in_force.has_step(&current);
        let lifts_responses = newest.is_some_and(|newest| in_force.has_answer(&newest));
        let lifts_steps = in_force.has_step(&current);
        for (call, marks) in judge.considered().iter().map(|call| Fingerprint::from(*call)).zip(marks) {
            marks.prompt &= !(lifts_prompts || in_force.has_prompt(&call) || in_force.has_step(&call));
            marks.response &= !(lifts_responses || in_force.has_answer(&call));
            marks.tool_calls &= !(lifts_steps || in_force.has_step(&call));
        }
    }
}

/// The exemptions that hold at the time of the call that is judged.
struct InForce {
    exempts: Vec<Exempt>,
    counting: Counting,
}

impl InForce {
    fn has(&self, call: &Fingerprint, kind: ExemptKind) -> bool {
        self.exempts.iter().any(|exempt| exempt.kind() == kind && exempt.covers(call, self.counting))
    }

    fn has_prompt(&self, call: &Fingerprint) -> bool {
        self.has(call, ExemptKind::Prompt)
    }

    fn has_step(&self, call: &Fingerprint) -> bool {
        self.has(call, ExemptKind::ToolCall)
    }

    /// Whether the answer to `call` is exempt. An answer in the middle of the work on an exempt
    /// prompt is not: an agent may get stuck there.
    fn has_answer(&self, call: &Fingerprint) -> bool {
        self.has_step(call) || (call.tools.is_none() && self.has_prompt(call))
    }
}
