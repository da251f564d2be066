//! One agent and what it does, in a line per exchange.

use std::borrow::Cow;

use guard::{Decision, Guard, GuardConfig, NewCall, Scored, Verdict};
use model::{
    Action, AgentId, Answered, Asked, CallId, Counting, Fingerprint, KillSwitch, SignalCounts, Timestamp, ToolCall,
};

/// A request to be made, with what the detector sees of it.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) prompt: String,
    pub(crate) conversation: String,
    pub(crate) position: u32,
    pub(crate) depth: u32,
    /// Names and arguments of the newest step.
    pub(crate) calls: Vec<(String, String)>,
    pub(crate) results: Vec<String>,
    pub(crate) attachments: Vec<String>,
    /// The messages that went to and fro without any tool.
    pub(crate) talk: &'static [&'static str],
    /// What else makes the body different.
    pub(crate) body: String,
}

impl Ask {
    pub(crate) fn new(prompt: &str) -> Ask {
        Ask {
            prompt: prompt.to_owned(),
            conversation: "conversation".to_owned(),
            position: 0,
            depth: 0,
            calls: Vec::new(),
            results: Vec::new(),
            attachments: Vec::new(),
            talk: &[],
            body: String::new(),
        }
    }

    /// In another conversation.
    pub(crate) fn within(self, conversation: &str) -> Ask {
        Ask { conversation: conversation.to_owned(), ..self }
    }

    /// After so many user messages.
    pub(crate) fn at(self, position: u32) -> Ask {
        Ask { position, ..self }
    }

    /// After so many steps of work, the newest of which is this tool call with this result.
    pub(crate) fn after(self, depth: u32, arguments: &str, result: &str) -> Ask {
        let name = if arguments.contains("query") { "search" } else { "bash" };
        let calls = vec![(name.to_owned(), arguments.to_owned())];
        Ask { depth, calls, results: vec![result.to_owned()], ..self }
    }

    fn asked(&self) -> Asked<'_> {
        Asked {
            prompt: vec![Cow::Borrowed(&self.prompt)],
            attachments: self.attachments.iter().map(String::as_str).collect(),
            turn_position: self.position,
            depth: self.depth,
            newest_message: &self.prompt,
            tool_calls: self.calls.iter().map(|(name, arguments)| tool_call(name, arguments)).collect(),
            tool_results: self.results.iter().map(|result| Cow::Borrowed(result.as_str())).collect(),
            talk: self.talk.iter().copied().map(Cow::Borrowed).collect(),
            ..Asked::default()
        }
    }

    fn bytes(&self) -> String {
        format!("{} {self:?}", self.body)
    }
}

fn tool_call<'a>(name: &'a str, arguments: &'a str) -> ToolCall<'a> {
    ToolCall { name: Cow::Borrowed(name), arguments: Cow::Borrowed(arguments) }
}

/// An answer in words.
pub(crate) fn said(text: &str) -> Answered {
    Answered { text: text.to_owned(), tool_calls: Vec::new() }
}

/// An answer that calls a tool and says nothing.
pub(crate) fn called(arguments: &str) -> Answered {
    let call = ToolCall { name: "bash".into(), arguments: arguments.to_owned().into() };
    Answered { text: String::new(), tool_calls: vec![call] }
}

/// The settings that are meant when nothing else is said: enabled.
pub(crate) fn enabled(threshold: f64, counting: Counting) -> KillSwitch {
    KillSwitch { enabled: true, threshold, counting, ..KillSwitch::default() }
}

/// One agent behind a guard of its own.
pub(crate) struct Driver {
    pub(crate) guard: Guard,
    pub(crate) agent: AgentId,
    pub(crate) now: Timestamp,
}

impl Driver {
    pub(crate) fn new(kill_switch: KillSwitch) -> Driver {
        Driver::with(GuardConfig { defaults: kill_switch, ..GuardConfig::default() })
    }

    pub(crate) fn with(config: GuardConfig) -> Driver {
        let agent = AgentId::parse("my-agent").unwrap();
        Driver { guard: Guard::new(config), agent, now: Timestamp::from_millis(1_000) }
    }

    /// Makes a call and says what was decided.
    pub(crate) fn decide(&mut self, ask: &Ask) -> Decision {
        self.now = Timestamp::from_millis(self.now.as_millis() + 1);
        let (asked, body) = (ask.asked(), ask.bytes());
        let call = NewCall {
            agent: &self.agent,
            call: CallId::new(),
            conversation: &ask.conversation,
            body: body.as_bytes(),
            asked: &asked,
        };
        self.guard.on_call(&call, self.now)
    }

    /// Makes a call that is scored.
    pub(crate) fn call(&mut self, ask: &Ask) -> Scored {
        match self.decide(ask) {
            Decision::Scored(scored) => *scored,
            Decision::Inactive(deactivation) => panic!("inactive: {deactivation:?}"),
        }
    }

    /// Makes a call and answers it.
    pub(crate) fn exchange(&mut self, ask: &Ask, answer: &Answered) -> Scored {
        let scored = self.call(ask);
        self.guard.on_answer(&scored.ticket, answer, self.now);
        scored
    }

    /// Makes a call that fails.
    pub(crate) fn fail(&mut self, ask: &Ask) -> Fingerprint {
        let scored = self.call(ask);
        self.guard.on_failure(&scored.ticket, self.now).unwrap()
    }

    pub(crate) fn configure(&self, kill_switch: KillSwitch) {
        self.guard.configure(&self.agent, kill_switch);
    }
}

/// The counts as a triple: prompts, responses, tool calls.
pub(crate) fn counts(scored: &Scored) -> (u32, u32, u32) {
    let SignalCounts { similar_prompts, similar_responses, repeated_tool_calls } = scored.score.signals;
    (similar_prompts, similar_responses, repeated_tool_calls)
}

pub(crate) fn is_kill(scored: &Scored) -> bool {
    matches!(scored.verdict, Verdict::Kill(_))
}

/// Enabled with this action.
pub(crate) fn acting(action: Action, threshold: f64) -> KillSwitch {
    KillSwitch { action, ..enabled(threshold, Counting::Adaptive) }
}
