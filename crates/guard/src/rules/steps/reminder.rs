//! A look at something known is not a try: an agent reads a plan or a file of types again before
//! each new file. Running a test again is a try, and reading something in between does not make it
//! another one.

use model::{StepKind, ToolStep};

use super::new_work::ChainEnd;

/// What ends a chain of steps like this one. A chain of looks that showed something also ends with
/// the first look at something else.
pub(crate) fn chain_end(step: Option<ToolStep>) -> ChainEnd {
    let is_reminder = |step: &ToolStep| step.kind == StepKind::Look && !step.is_error && !step.result.is_empty;
    step.filter(is_reminder).map_or(ChainEnd::Work, |step| ChainEnd::Discovery(step.adaptive))
}
