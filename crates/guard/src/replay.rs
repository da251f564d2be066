//! Judges recorded calls again, under any settings: what the kill switch would have done. Windows
//! and rules are those of live calls; the only difference is that a recorded answer is known before
//! the next call, also where calls overlapped.

use std::hash::Hasher as _;
use std::sync::Arc;

use model::{Answered, Asked, CallId, Exemption, Fingerprint, KillSwitch, Novelty, Outcome, Score, Timestamp};
use twox_hash::XxHash3_64;

use crate::config::GuardConfig;
use crate::fingerprint::{self, PromptPrint};
use crate::registry::{Settings, StoredAgent, seconds};

/// A fresh agent whose calls were recorded.
#[derive(Debug)]
pub struct Replay {
    agent: StoredAgent,
    max_conversations: usize,
    threshold: f64,
}

/// The verdict on a recorded call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Its score.
    pub score: Score,
    /// Whether that exceeds the threshold.
    pub is_stopped: bool,
}

impl Replay {
    /// An agent that has made no call yet.
    pub fn new(kill_switch: KillSwitch) -> Replay {
        let settings = Arc::new(Settings::new(kill_switch));
        let max_conversations = GuardConfig::default().max_conversations;
        Replay { agent: StoredAgent::new(settings), max_conversations, threshold: kill_switch.threshold }
    }

    /// The same agent with exemptions.
    pub fn exempting(mut self, exemptions: Vec<Exemption>) -> Replay {
        self.agent.open(self.max_conversations).exempt(exemptions);
        self
    }

    /// Judges the next call. Calls come in the order of their numbers and are of one epoch: an
    /// activation starts a new replay.
    pub fn take(&mut self, recorded: &Fingerprint) -> Judged {
        let score = self.agent.open(self.max_conversations).on_recorded(recorded);
        Judged { score, is_stopped: score.value > self.threshold }
    }

    /// What the tool step of the newest call contributed, to explain a score.
    pub fn newest_novelty(&mut self) -> Novelty {
        self.agent.open(self.max_conversations).newest_novelty()
    }
}

/// Judges `recorded` calls of one epoch, in the order of their numbers, as if the kill switch only
/// observed: every call that scores above the threshold would have been stopped, if none before it
/// was.
pub fn what_if<'f>(
    recorded: impl IntoIterator<Item = &'f Fingerprint>,
    kill_switch: KillSwitch,
    exemptions: Vec<Exemption>,
) -> Vec<Judged> {
    let mut replay = Replay::new(kill_switch).exempting(exemptions);
    recorded.into_iter().map(|print| replay.take(print)).collect()
}

/// A call of which only the bodies were kept.
#[derive(Clone, Copy, Debug)]
pub struct PastCall<'a> {
    /// Orders the calls.
    pub number: u64,
    /// When it came.
    pub time: Timestamp,
    /// For how many milliseconds nothing had happened in its conversation.
    pub silence_ms: i64,
    /// The name of its conversation.
    pub conversation: &'a str,
    /// The request's bytes.
    pub body: BodyHash,
    /// The request that was read from them.
    pub asked: &'a Asked<'a>,
    /// Its answer; `None` if it failed.
    pub answered: Option<&'a Answered>,
    /// Whether it was one of several samples of one ask.
    pub is_sample: bool,
}

/// The past calls of one run. Most of them have the prompt of the call before, which is then not
/// hashed again.
#[derive(Debug, Default)]
pub struct PastCalls {
    newest: Option<KnownPrompt>,
}

#[derive(Debug)]
struct KnownPrompt {
    texts: Vec<String>,
    attachments: Vec<String>,
    print: PromptPrint,
}

impl PastCalls {
    /// The fingerprint that the guard would have recorded of the next call.
    pub fn fingerprint(&mut self, call: &PastCall<'_>) -> Fingerprint {
        let prompt = self.prompt(call.asked);
        let request = fingerprint::of_request(call.conversation, call.body.0, call.asked, prompt);
        let outcome = if call.answered.is_some() { Outcome::Answered } else { Outcome::Failed };
        let response = call.answered.and_then(fingerprint::of_answer);
        let arrived = request.arrived(CallId::new(), call.number, call.time);
        let silence = arrived.silence.max(seconds(call.silence_ms));
        Fingerprint { response, outcome, silence, is_sample: call.is_sample, ..arrived }
    }

    fn prompt(&mut self, asked: &Asked<'_>) -> PromptPrint {
        let is_known = |known: &&KnownPrompt| known.texts == asked.prompt && known.attachments == asked.attachments;
        if let Some(known) = self.newest.as_ref().filter(is_known) {
            return known.print;
        }
        let print = fingerprint::of_prompt(asked);
        let texts = asked.prompt.iter().map(|text| text.to_string()).collect();
        let attachments = asked.attachments.iter().map(|attachment| (*attachment).to_owned()).collect();
        self.newest = Some(KnownPrompt { texts, attachments, print });
        print
    }
}

/// The hash of a request's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyHash(u64);

/// A body that grows from call to call, so that each byte is hashed once.
#[derive(Clone, Default)]
pub struct GrowingBody(XxHash3_64);

impl std::fmt::Debug for GrowingBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GrowingBody({:016x})", self.0.finish())
    }
}

impl GrowingBody {
    /// Adds the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// The hash of the body that ends with `end`.
    pub fn hash(&self, end: &[u8]) -> BodyHash {
        let mut whole = self.0.clone();
        whole.write(end);
        BodyHash(whole.finish())
    }
}
