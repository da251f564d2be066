//! Two calls of the evidence side by side, chosen in the address. Words that only one of them has
//! are marked.

use model::{CallId, IncidentId};
use serde::Deserialize;
use store::EvidenceHead;

use super::evidence::{EvidenceLine, shown};
use crate::app::App;
use crate::pages::diff::{self, Run};
use crate::pages::plain::plain;
use crate::pages::words::incident::part;
use crate::problem::Problem;

/// How many characters of each text are compared.
const COMPARED: u32 = 20_000;

/// The two calls to compare.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ComparisonQuery {
    left: Option<CallId>,
    right: Option<CallId>,
}

/// The choices, and the two calls if both are chosen.
pub(super) struct Comparison {
    pub(super) choices: Vec<Choice>,
    pub(super) parts: Vec<Part>,
    pub(super) left: usize,
    pub(super) right: usize,
}

/// A call that can be chosen.
pub(super) struct Choice {
    pub(super) call: String,
    pub(super) number: usize,
    pub(super) is_left: bool,
    pub(super) is_right: bool,
}

/// One text of both calls.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) left: Option<Side>,
    pub(super) right: Option<Side>,
}

pub(super) struct Side {
    pub(super) runs: Vec<Run>,
    pub(super) shown: String,
}

/// The comparison that `query` asks for among the calls of `lines`; `None` if there are not two.
pub(super) async fn read(
    app: &App,
    incident: IncidentId,
    lines: &[EvidenceLine],
    query: &ComparisonQuery,
) -> Result<Option<Comparison>, Problem> {
    let [.., before, last] = lines else { return Ok(None) };
    let name = |call: Option<CallId>, default: &str| call.map_or_else(|| default.to_owned(), |call| call.to_string());
    let (left, right) = (name(query.left, &before.call), name(query.right, &last.call));
    let number = |call: &str| lines.iter().find(|line| line.call == call).map_or(0, |line| line.number);
    let choice = |line: &EvidenceLine| Choice {
        call: line.call.clone(),
        number: line.number,
        is_left: line.call == left,
        is_right: line.call == right,
    };
    Ok(Some(Comparison {
        choices: lines.iter().map(choice).collect(),
        parts: match (query.left, query.right) {
            (Some(left), Some(right)) => parts(app, incident, left, right).await?,
            _ => Vec::new(),
        },
        left: number(&left),
        right: number(&right),
    }))
}

async fn parts(app: &App, incident: IncidentId, left: CallId, right: CallId) -> Result<Vec<Part>, Problem> {
    let store = &app.web().store;
    let (left, right) = tokio::try_join!(
        store.evidence_head(incident, left, COMPARED),
        store.evidence_head(incident, right, COMPARED)
    )?;
    let (Some(left), Some(right)) = (left, right) else { return Ok(Vec::new()) };
    let (left_texts, right_texts) = (texts(left), texts(right));
    let pairs = left_texts.into_iter().zip(right_texts);
    let parts = pairs.map(|((name, left), (_, right))| compared(name, left, right));
    Ok(parts.filter(|part| part.left.is_some() || part.right.is_some()).collect())
}

/// The beginning of a text, and the length of the whole.
type Beginning = (Option<String>, u64);

/// The texts of a call, each with its name.
fn texts(head: EvidenceHead) -> [(&'static str, Beginning); 4] {
    let lengths = head.lengths;
    [
        (part::TOOL_CALLS, (head.tool_calls, 0)),
        (part::RESULT, (head.tool_results, lengths.tool_results)),
        (part::PROMPT, (head.prompt, lengths.prompt)),
        (part::RESPONSE, (head.response, lengths.response)),
    ]
}

fn compared(name: &'static str, left: Beginning, right: Beginning) -> Part {
    let side = |(text, length): &Beginning, other: &Beginning| {
        let text = plain(text.as_deref()?);
        let runs = diff::compare(&text, &plain(other.0.as_deref().unwrap_or_default()));
        Some(Side { shown: shown(&text, *length), runs })
    };
    Part { name, left: side(&left, &right), right: side(&right, &left) }
}
