//! The three agents of the demo and the script of the built-in provider. Each makes real HTTP calls
//! through the proxy, in the format of its SDK.

use anyhow::Context;
use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::client::Http;
use fake_provider::{Asking, Behaviour, Script};

/// The stuck agent.
pub(super) const STUCK: &str = "import-fixer";

/// A client gives up after this many refusals.
const MAX_REFUSALS: usize = 2;

/// The behaviour of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Works through one task with many different tool calls: the same user message each time, and
    /// healthy.
    Researcher,
    /// Talks about something else each time.
    SupportChat,
    /// Repeats the same request and gets the same answer.
    ImportFixer,
}

/// An agent with its conversation so far.
#[derive(Debug)]
pub(super) struct DemoAgent {
    pub(super) name: &'static str,
    pub(super) calls: usize,
    pub(super) refusals: usize,
    role: Role,
    messages: Vec<Value>,
}

/// The result of one call.
#[derive(Debug)]
pub(super) struct CallOutcome {
    /// What the call was about.
    pub(super) about: String,
    /// `4.0/10.0`, from the proxy's header.
    pub(super) score: Option<String>,
    /// The status and the message of a refusal.
    pub(super) refusal: Option<(u16, String)>,
}

impl DemoAgent {
    /// All three agents.
    pub(super) fn agents() -> [DemoAgent; 3] {
        let agent = |name, role, first: &str| DemoAgent {
            name,
            calls: 0,
            refusals: 0,
            role,
            messages: vec![json!({"role": "user", "content": first})],
        };
        [
            agent("researcher", Role::Researcher, "Find out why our nightly CSV import got slower since March."),
            agent("support-chat", Role::SupportChat, QUESTIONS[0]),
            agent(STUCK, Role::ImportFixer, "Fix the failing import in loader.py and run the tests again."),
        ]
    }

    /// Whether it gave up after refusals.
    pub(super) fn has_given_up(&self) -> bool {
        self.refusals >= MAX_REFUSALS
    }

    /// Makes its next call through the proxy and continues with the answer.
    pub(super) async fn call(&mut self, http: &Http, proxy: &str) -> anyhow::Result<CallOutcome> {
        self.calls += 1;
        let request = Request::post(format!("{proxy}/agents/{}{}", self.name, self.path()))
            .header(header::CONTENT_TYPE, "application/json")
            .header("anthropic-version", "2023-06-01")
            .body(Full::from(self.body().to_string()))?;
        let response = http.send(request).await.context("the proxy does not answer")?;
        let answer: Value = serde_json::from_slice(response.body()).context("the answer is not JSON")?;
        let about = self.about(&answer);
        let score = response.headers().get("x-agentgazer-loop-score");
        let score = score.and_then(|score| score.to_str().ok()).map(str::to_owned);
        let refusal = refusal(&response, &answer);
        match refusal {
            Some(_) => self.refusals += 1,
            None => self.continue_with(&answer),
        }
        Ok(CallOutcome { about, score, refusal })
    }

    fn path(&self) -> &'static str {
        match self.role {
            Role::SupportChat => "/anthropic/v1/messages",
            Role::Researcher | Role::ImportFixer => "/openai/v1/chat/completions",
        }
    }

    fn body(&self) -> Value {
        let mut body = json!({"model": self.name, "messages": self.messages});
        match self.role {
            Role::Researcher => body["tools"] = STEPS.iter().map(|(tool, _)| offered(tool)).collect(),
            Role::SupportChat => body["max_tokens"] = json!(256),
            Role::ImportFixer => {}
        }
        body
    }

    /// A description of this call for the story.
    fn about(&self, answer: &Value) -> String {
        let function = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
        match (self.role, function["name"].as_str()) {
            (Role::Researcher, Some(tool)) => {
                let arguments =
                    function["arguments"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
                let what = arguments.as_ref().and_then(|arguments| arguments["what"].as_str());
                format!("calls {tool}: {}", what.unwrap_or_default())
            }
            _ => {
                let asked = self.messages.iter().rev().find(|message| message["role"] == "user");
                let asked = asked.and_then(|message| message["content"].as_str()).unwrap_or_default();
                format!("asks: {asked}")
            }
        }
    }

    /// Adds the answer and the agent's next step to the conversation.
    fn continue_with(&mut self, answer: &Value) {
        match self.role {
            Role::Researcher => {
                let message = answer["choices"][0]["message"].clone();
                let id = message["tool_calls"][0]["id"].clone();
                let result = FINDINGS[(self.calls - 1) % FINDINGS.len()];
                self.messages.push(message);
                self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
            }
            Role::SupportChat => {
                let next = QUESTIONS[self.calls % QUESTIONS.len()];
                self.messages.push(json!({"role": "assistant", "content": answer["content"][0]["text"]}));
                self.messages.push(json!({"role": "user", "content": next}));
            }
            // It starts over each time, because it is stuck.
            Role::ImportFixer => {}
        }
    }
}

fn refusal(response: &Response<Bytes>, answer: &Value) -> Option<(u16, String)> {
    if response.status().is_success() {
        return None;
    }
    let message = answer["error"]["message"].as_str().unwrap_or("no message").to_owned();
    Some((response.status().as_u16(), message))
}

fn offered(tool: &str) -> Value {
    json!({"type": "function", "function": {"name": tool, "parameters": {"type": "object", "properties": {}}}})
}

/// The provider's script: it recognises agents by the model they request.
pub(super) fn script() -> Script {
    Script::chosen(|asking| match asking.model() {
        "researcher" => {
            let (tool, argument) = STEPS[count(asking, "tool") % STEPS.len()];
            Behaviour::tool_call(tool, json!({ "what": argument }))
        }
        "support-chat" => Behaviour::text(ANSWERS[count(asking, "user").saturating_sub(1) % ANSWERS.len()]),
        _ => Behaviour::text(
            "The import fails because the module path is wrong. I changed it in loader.py; please run the tests again.",
        ),
    })
}

fn count(asking: &Asking<'_>, role: &str) -> usize {
    asking.messages().iter().filter(|message| message["role"] == role).count()
}

const STEPS: [(&str, &str); 9] = [
    ("list_files", "import/"),
    ("read_file", "import/nightly.py"),
    ("search_commits", "changes to import/ since March"),
    ("read_diff", "commit 4f1c: validate every row"),
    ("run_profile", "nightly.py with the sample of February"),
    ("run_profile", "nightly.py with the sample of April"),
    ("query_metrics", "rows per second by week"),
    ("read_file", "import/validate.py"),
    ("write_report", "validation compiles its pattern once per row"),
];

const FINDINGS: [&str; 9] = [
    "nightly.py, validate.py, load.py, README",
    "Reads each file, validates its rows, loads them in batches of a thousand.",
    "Three commits: a new column, row validation, a renamed table.",
    "Adds a call of validate_row for each row before the batch is filled.",
    "Most of the time is spent waiting for the database.",
    "Most of the time is spent compiling regular expressions.",
    "Steady until the second week of March, then a drop to a third.",
    "The pattern is compiled inside validate_row.",
    "Saved as a draft.",
];

const QUESTIONS: [&str; 9] = [
    "Where can I download last year's invoices?",
    "Can I pay by bank transfer instead of by card?",
    "My colleague left. How do I give her projects to someone else?",
    "Does the mobile app work without a network?",
    "Which regions do you store backups in?",
    "The export button is greyed out for guests, is that on purpose?",
    "How do I connect our single sign-on?",
    "Is there a discount for schools?",
    "Thank you! Whom do I write to about a partnership?",
];

const ANSWERS: [&str; 9] = [
    "Under Billing, choose the year and press Download all: you get one archive with every invoice.",
    "Yes. Ask for it under Payment methods, and we will send you the account details with the next invoice.",
    "An owner can do that under Members: open her profile and choose Transfer projects.",
    "It keeps what you opened in the last thirty days and sends your changes once you are online again.",
    "Backups stay in the region of your workspace: Frankfurt, Virginia or Sydney.",
    "It is: guests can look at a board but not take its contents along. An editor can export it for them.",
    "Open Security, choose your identity provider and follow the four steps there; it takes about ten minutes.",
    "There is: half price for schools and universities, with an address of the institution.",
    "Our partnership team is glad to hear from you, the address is on the contact page.",
];
