//! One run while it is written: calls in their order, each with its time.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::clock::rfc3339;
use crate::conversation::{Answer, Conversation, Form, Kit, Linked, Opening, Outcome, Tool};
use crate::material::volatile::uuid;
use crate::rng::{BASE62, Rng};

/// A run in the making.
pub(crate) struct Run {
    pub(crate) form: Form,
    pub(crate) rng: Rng,
    /// The time of the next call, in milliseconds.
    pub(crate) now: i64,
    /// Milliseconds from one call to the next.
    pub(crate) pace: RangeInclusive<i64>,
    calls: Vec<String>,
    first_stuck_call: Option<usize>,
    /// The calls of stuck conversations, where healthy ones run beside them.
    stuck_calls: Vec<usize>,
}

/// Tuesday, 3 March 2026, 09:00 UTC: runs begin within the day after it.
const FIRST_DAY_MS: i64 = 1_772_528_400_000;

impl Run {
    pub(crate) fn new(form: Form, mut rng: Rng) -> Run {
        let now = FIRST_DAY_MS + rng.range(0..=86_400_000);
        Run { form, rng, now, pace: 2_000..=8_000, calls: Vec::new(), first_stuck_call: None, stuck_calls: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// A client that speaks this run's form.
    pub(crate) fn kit(&mut self) -> Kit {
        Kit::of(self.form, &mut self.rng)
    }

    /// A conversation of a coding client about `task`.
    pub(crate) fn open(&mut self, kit: Kit, task: &str) -> Conversation {
        let session = kit.sends_session().then(|| uuid(&mut self.rng));
        let mut chat = self.open_with(kit.system(), &kit.tools(), session);
        chat.push_user(task);
        chat
    }

    /// A conversation with tools and words of its own, and no message yet.
    pub(crate) fn open_with(&mut self, system: &str, tools: &[&str], session: Option<String>) -> Conversation {
        let model = match self.form {
            Form::ChatCompletions => "gpt-5.1",
            Form::Anthropic => "claude-sonnet-4-5",
            Form::Responses => "gpt-5.1-codex",
            Form::Gemini => "gemini-2.5-pro",
        };
        Conversation::open(&Opening { form: self.form, model, system, tools, session })
    }

    /// A fresh session id.
    pub(crate) fn session(&mut self) -> Option<String> {
        Some(uuid(&mut self.rng))
    }

    /// Sends what the conversation holds. `None`: the call failed.
    pub(crate) fn send(&mut self, chat: &Conversation, answer: Option<&Answer>) {
        let response = answer.map_or(Value::Null, |answer| chat.form.body(answer, self.rng.next()));
        let (request, format, time) = (chat.request(), chat.form.format(), rfc3339(self.now));
        self.calls
            .push(format!(r#"{{"request":{request},"response":{response},"format":"{format}","timestamp":"{time}"}}"#));
        self.now += self.rng.range(self.pace.clone());
    }

    /// The model answers with words.
    pub(crate) fn answer(&mut self, chat: &mut Conversation, text: &str) {
        let answer = Answer { text: text.to_owned(), calls: Vec::new() };
        self.send(chat, Some(&answer));
        chat.push_answer(&answer);
    }

    /// The model calls a tool, which works.
    pub(crate) fn act(&mut self, chat: &mut Conversation, say: &str, tool: Tool, result: &str) {
        let outcomes = self.call(chat, say, vec![(tool, result.to_owned())], false);
        chat.push_outcomes(&outcomes);
    }

    /// The model calls a tool, which fails.
    pub(crate) fn act_failing(&mut self, chat: &mut Conversation, say: &str, tool: Tool, error: &str) {
        let outcomes = self.call(chat, say, vec![(tool, error.to_owned())], true);
        chat.push_outcomes(&outcomes);
    }

    /// The model calls several tools at once.
    pub(crate) fn act_all(&mut self, chat: &mut Conversation, say: &str, steps: Vec<(Tool, String)>) {
        let outcomes = self.call(chat, say, steps, false);
        chat.push_outcomes(&outcomes);
    }

    /// The model calls a tool; the user says something before the model sees the result.
    pub(crate) fn act_interrupted(&mut self, chat: &mut Conversation, say: &str, step: (Tool, String), words: &str) {
        let outcomes = self.call(chat, say, vec![step], false);
        chat.push_outcomes_and_user(&outcomes, Some(words));
    }

    fn call(&mut self, chat: &mut Conversation, say: &str, steps: Vec<(Tool, String)>, is_error: bool) -> Vec<Outcome> {
        let mut answer = Answer { text: say.to_owned(), calls: Vec::new() };
        let mut outcomes = Vec::new();
        for (tool, text) in steps {
            let text = Kit::wrap(&mut self.rng, &tool, text, u8::from(is_error));
            let id = self.call_id();
            outcomes.push(Outcome { id: id.clone(), tool: tool.name.clone(), text, is_error });
            answer.calls.push(Linked { id, tool });
        }
        self.send(chat, Some(&answer));
        chat.push_answer(&answer);
        outcomes
    }

    fn call_id(&mut self) -> String {
        match self.form {
            Form::Anthropic => format!("toolu_01{}", self.rng.text(BASE62, 22)),
            Form::ChatCompletions | Form::Responses | Form::Gemini => format!("call_{}", self.rng.text(BASE62, 24)),
        }
    }

    /// Nothing happens for a while.
    pub(crate) fn wait(&mut self, millis: RangeInclusive<i64>) {
        self.now += self.rng.range(millis);
    }

    /// The next call is the first that repeats something; what came before could still be work.
    pub(crate) fn mark_stuck(&mut self) {
        self.first_stuck_call.get_or_insert(self.calls.len());
    }

    /// The next call belongs to a stuck conversation that has healthy ones beside it.
    pub(crate) fn mark_stuck_call(&mut self) {
        self.mark_stuck();
        self.stuck_calls.push(self.calls.len());
    }

    /// The replay line.
    pub(crate) fn line(&self, id: &str, shape: &str, is_loop: bool) -> String {
        let (label, verdict) = if is_loop { ("loop", "loop") } else { ("ok", "legit") };
        let stuck = if self.stuck_calls.is_empty() { String::new() } else { json!(self.stuck_calls).to_string() };
        let stuck = if stuck.is_empty() { stuck } else { format!(r#""stuck_calls":{stuck},"#) };
        let first = json!(self.first_stuck_call);
        format!(
            r#"{{"id":{},"label":"{label}","verdict":"{verdict}","first_stuck_call":{first},"shape":{},{stuck}"calls":[{}]}}"#,
            json!(id),
            json!(shape),
            self.calls.join(",")
        )
    }
}
