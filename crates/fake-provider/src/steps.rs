//! Answers scripted one by one by a test in another process, for clients that run tools in between.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::asking::Asking;
use crate::output::Call;
use crate::output::Output;
use crate::script::Answer;

/// The remaining scripted answers, and the calls so far.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    run: Mutex<Option<Run>>,
}

#[derive(Debug)]
struct Run {
    left: VecDeque<Step>,
    calls: Vec<Value>,
}

/// One scripted answer: `{"text":"…"}` or `{"name":"Bash","arguments":{…}}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Step {
    /// Calls a tool, in answer to the next request that offers it.
    Call(Call),
    /// Says this, in answer to the next request.
    Text { text: String },
}

/// The answer to a request without a matching step, and after the last step.
const NO_STEP: &str = "That is done.";

impl Steps {
    /// Replaces the script. An empty list removes it.
    pub(crate) fn replace(&self, steps: Vec<Step>) {
        let run = Run { left: steps.into(), calls: Vec::new() };
        *self.lock() = (!run.left.is_empty()).then_some(run);
    }

    /// The answer to `asking`, if answers are scripted.
    pub(crate) fn next(&self, asking: &Asking<'_>) -> Option<Answer> {
        let mut run = self.lock();
        let left = &mut run.as_mut()?.left;
        // Clients request titles and summaries in between, with other tools or none.
        let step = left.pop_front_if(|step| match step {
            Step::Call(call) => asking.offers_tool(&call.name),
            Step::Text { .. } => true,
        });
        Some(match step {
            Some(Step::Call(call)) => Answer::ToolCalls(vec![call]),
            Some(Step::Text { text }) => Answer::Text(text.into()),
            None => Answer::Text(NO_STEP.into()),
        })
    }

    /// Records a call in the form of `replay`, if answers are scripted.
    pub(crate) fn keep(&self, asking: &Asking<'_>, output: &Output) {
        if let Some(run) = self.lock().as_mut() {
            let response: Value = serde_json::from_slice(&asking.body_of(output)).unwrap_or_default();
            let (request, timestamp) = (asking.json(), asking.received_at().to_string());
            run.calls.push(json!({"request": request, "response": response, "timestamp": timestamp}));
        }
    }

    /// The number of remaining steps, and the calls since the script began.
    pub(crate) fn progress(&self) -> Value {
        match self.lock().as_ref() {
            Some(run) => json!({"left": run.left.len(), "calls": run.calls}),
            None => json!({"left": 0, "calls": []}),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Run>> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
