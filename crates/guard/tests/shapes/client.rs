//! A client that sends its whole conversation with every request, and a model that answers as the
//! story says.

use guard::{Decision, Guard, GuardConfig, NewCall, Ticket, Verdict};
use http::HeaderMap;
use model::{AgentId, CallId, KillSwitch, Timestamp};
use serde_json::{Value, json};
use wire::{Dialect, RebuiltPrompt, RebuiltPrompts, RunId};

/// What a story may do at most: loops must have ended by then, healthy work has shown that it goes
/// on.
const CALLS: usize = 60;

/// One agent with the kill switch on, at the defaults.
pub(crate) struct Client {
    guard: Guard,
    agent: AgentId,
    now: i64,
    messages: Vec<Value>,
    rebuilt: RebuiltPrompts,
    /// The run that the newest request belongs to, if its prompt is rebuilt at every step.
    run: Option<RunId>,
    model: &'static str,
    session: Option<String>,
    calls: usize,
    killed_at: Option<usize>,
}

/// Plays `round` after round; the call at which the kill comes, counted from 1.
pub(crate) fn killed_at(mut round: impl FnMut(&mut Client, usize)) -> Option<usize> {
    let defaults = KillSwitch { enabled: true, ..KillSwitch::default() };
    let mut client = Client {
        guard: Guard::new(GuardConfig { defaults, ..GuardConfig::default() }),
        agent: AgentId::parse("my-agent").unwrap(),
        now: 1_700_000_000_000,
        messages: Vec::new(),
        rebuilt: RebuiltPrompts::new(1 << 20),
        run: None,
        model: "any",
        session: None,
        calls: 0,
        killed_at: None,
    };
    client.say("Fix the failing import of customer records and tell me in the end what was wrong with it.");
    let mut number = 0;
    while client.calls < CALLS && client.killed_at.is_none() {
        round(&mut client, number);
        number += 1;
    }
    client.killed_at
}

impl Client {
    /// The user says something, or a program in that role.
    pub(crate) fn say(&mut self, text: &str) {
        self.messages.push(json!({"role": "user", "content": text}));
    }

    /// The conversation is started over.
    pub(crate) fn start_over(&mut self, text: &str) {
        self.messages.clear();
        self.say(text);
    }

    /// Another session begins, which the client names.
    pub(crate) fn start_session(&mut self, session: usize, text: &str) {
        self.session = Some(format!("session {session}"));
        self.start_over(text);
    }

    /// Time passes.
    pub(crate) fn wait(&mut self, seconds: i64) {
        self.now += seconds * 1_000;
    }

    /// The model says `text`.
    pub(crate) fn hear(&mut self, text: &str) {
        self.answer(json!({"role": "assistant", "content": text}));
    }

    /// The model calls a tool without a word, and the tool gives `result`.
    pub(crate) fn tool(&mut self, name: &str, arguments: &Value, result: &str) {
        self.tools(&[(name, arguments.clone(), result)]);
    }

    /// The model calls a tool, which gives an image.
    pub(crate) fn tool_with_image(&mut self, name: &str, arguments: &Value, data: &str) {
        self.tool(name, arguments, "");
        let url = format!("data:image/png;base64,{data}");
        self.messages.last_mut().unwrap()["content"] = json!([{"type": "image_url", "image_url": {"url": url}}]);
    }

    /// The model says `text` and calls a tool, which gives `result`.
    pub(crate) fn say_and_call(&mut self, text: &str, name: &str, arguments: &Value, result: &str) {
        self.call(json!(text), &[(name, arguments.clone(), result)]);
    }

    /// The model calls several tools at once.
    pub(crate) fn tools(&mut self, calls: &[(&str, Value, &str)]) {
        self.call(Value::Null, calls);
    }

    fn call(&mut self, text: Value, calls: &[(&str, Value, &str)]) {
        let listed = calls.iter().enumerate().map(|(place, (name, arguments, _))| {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            json!({"id": format!("call_{}_{place}", self.calls), "type": "function", "function": function})
        });
        let listed: Vec<Value> = listed.collect();
        let ids: Vec<Value> = listed.iter().map(|call| call["id"].clone()).collect();
        self.answer(json!({"role": "assistant", "content": text, "tool_calls": listed}));
        for (id, (.., result)) in ids.into_iter().zip(calls) {
            self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
        }
    }

    /// The request is sent and answered.
    fn answer(&mut self, message: Value) {
        if let Some(ticket) = self.send() {
            self.wait(2);
            let answered = wire::read_assistant_message(&message.to_string(), usize::MAX).unwrap();
            self.guard.on_answer(&ticket, &answered, Timestamp::from_millis(self.now));
            if let Some(run) = self.run {
                self.rebuilt.answered(run, &answered);
            }
        }
        self.messages.push(message);
    }

    /// The request is sent and answered with nothing; it will be sent again as it is.
    pub(crate) fn hear_nothing(&mut self) {
        self.hear("");
        self.messages.pop();
    }

    /// The request is sent and fails.
    pub(crate) fn fail(&mut self) {
        if let Some(ticket) = self.send() {
            self.guard.on_failure(&ticket, Timestamp::from_millis(self.now));
        }
    }

    /// The request is sent `answers` times at once.
    pub(crate) fn sample(&mut self, answers: &[&str]) {
        let asked: Vec<(&'static str, &str)> = answers.iter().map(|answer| ("any", *answer)).collect();
        self.sample_models(&asked);
    }

    /// The request is sent to several models at once.
    pub(crate) fn sample_models(&mut self, asked: &[(&'static str, &str)]) {
        let mut send_to = |model| {
            self.model = model;
            self.send()
        };
        let tickets: Vec<Option<Ticket>> = asked.iter().map(|(model, _)| send_to(model)).collect();
        for (ticket, (_, text)) in tickets.into_iter().zip(asked) {
            let answered = model::Answered { text: (*text).to_owned(), tool_calls: Vec::new() };
            ticket.map(|ticket| self.guard.on_answer(&ticket, &answered, Timestamp::from_millis(self.now)));
        }
    }

    /// Sends the conversation. `None`: it was refused.
    fn send(&mut self) -> Option<Ticket> {
        if self.killed_at.is_some() {
            return None;
        }
        self.calls += 1;
        self.wait(1);
        let body = json!({"model": self.model, "session_id": self.session, "messages": self.messages}).to_string();
        let mut asked = wire::read_request(Dialect::ChatCompletions, body.as_bytes()).unwrap();
        self.run = RebuiltPrompt::of(&asked).map(|prompt| self.rebuilt.place(self.agent.as_str(), &prompt, &mut asked));
        let call = NewCall {
            agent: &self.agent,
            call: CallId::new(),
            conversation: &wire::conversation_of(&HeaderMap::new(), &asked),
            body: body.as_bytes(),
            asked: &asked,
        };
        let Decision::Scored(scored) = self.guard.on_call(&call, Timestamp::from_millis(self.now)) else {
            panic!("inactive before the kill");
        };
        if matches!(scored.verdict, Verdict::Kill(_)) {
            self.killed_at = Some(self.calls);
            return None;
        }
        Some(scored.ticket)
    }
}

/// Some words that no other `number` has.
pub(crate) fn words(number: usize, count: usize) -> String {
    let syllables = ["ka", "lo", "mi", "nu", "pe", "ra", "so", "ti", "vu", "we", "xo"];
    let word = |place: usize| -> String {
        let mut seed = number * 7_919 + place * 104_729 + 13;
        let mut word = String::new();
        for _ in 0..4 {
            word.push_str(syllables[seed % syllables.len()]);
            seed /= syllables.len();
        }
        word
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}
