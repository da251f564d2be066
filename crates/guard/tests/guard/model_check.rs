//! Any interleaving of calls, answers, failures, changes, activations and restarts gives the
//! windows, scores and verdicts of the naive reference.

use guard::{Decision, Guard, GuardConfig, Ticket, Verdict};
use model::{
    Action, Answered, Counting, Epoch, Exempt, ExemptKind, Exemption, ExemptionId, KillSwitch, SavedAgent, Timestamp,
};
use proptest::prelude::*;

use crate::driver::{Ask, Driver, called, said};
use crate::naive::{Expected, Naive};

const PROMPTS: [&str; 5] = [
    "continue",
    "Please look up order 12 in the archive and tell me whether it has been paid already",
    "Please look up order 99 in the archive and tell me whether it has been paid already",
    "",
    "Error: the patch is empty. Write one that is not, and tell me when it is done.",
];
const ANSWERS: [&str; 4] =
    ["done", "I found the order in the archive and it was paid on the day it was made", "", "no 5"];
const ANNOUNCED: &str = "I look up the order in the archive first and then tell you whether it was paid";
const CALLS: [&str; 8] = [
    r#"{"n":1}"#,
    r#"{"n":2}"#,
    r#"{"command":"ls"}"#,
    r#"{"command":"sed -i s/one/two/ a.rs"}"#,
    r#"{"query":"paid orders archive"}"#,
    r#"{"query":"archive of orders"}"#,
    r#"{"command":"sed -n 1,20p orders"}"#,
    r#"{"command":"sed -n 4,24p orders"}"#,
];
/// What was said before, and whether it leaves anything new to say.
const TALKS: [&[&str]; 2] = [&[], &["Thank you, see you soon", "See you", "Thank you", "See you soon"]];
const RESULTS: [&str; 14] = [
    "ok",
    "failed",
    "10 rows",
    "11 rows",
    "12 rows",
    "20 rows",
    "build 7 failed",
    "build 8 failed",
    "build 9 failed",
    "",
    "No results found.",
    "one two three four five six seven eight",
    LINES,
    // All but its first line.
    LINES.split_at(23).1,
];
const LINES: &str = "order 1: twelve candles
order 2: eleven pipers at work
order 3: ten lords in a row
order 4: nine ladies at a ball
order 5: eight maids in a barn
order 6: seven swans on a lake
order 7: six geese on a meadow
order 8: five golden rings
order 9: four birds that call
order 10: three french hens
order 11: two turtle doves here
order 12: one partridge alone";
const MAX_CONVERSATIONS: usize = 2;

#[derive(Clone, Debug)]
enum Step {
    Call(Ask),
    /// Which of the open calls ends, and with what.
    Answer(prop::sample::Index, Answered),
    Fail(prop::sample::Index),
    Configure(KillSwitch),
    /// What the newest call has of this kind does not count for so many milliseconds.
    Exempt(ExemptKind, i64),
    Revoke,
    Activate,
    Deactivate,
    Restart,
}

fn asks() -> impl Strategy<Value = Ask> {
    let tools = prop::option::weighted(0.5, (0..CALLS.len(), 0..RESULTS.len()));
    ((0..PROMPTS.len()), (0..4_usize), 0..2_u32, 0..3_u32, tools, (0..2_u8, 0..TALKS.len())).prop_map(
        |(prompt, conversation, position, depth, tools, (body, talk))| {
            let ask = Ask::new(PROMPTS[prompt]).within(["a", "b", "c", "a"][conversation]).at(position);
            let ask = Ask { depth, body: body.to_string(), talk: TALKS[talk], ..ask };
            match tools {
                None => ask,
                Some((call, result)) => ask.after(depth, CALLS[call], RESULTS[result]),
            }
        },
    )
}

fn answers() -> impl Strategy<Value = Answered> {
    prop_oneof![
        4 => (0..ANSWERS.len()).prop_map(|index| said(ANSWERS[index])),
        1 => (1..3_u8).prop_map(|number| called(&format!("{{\"n\":{number}}}"))),
        1 => (1..3_u8).prop_map(|number| Answered { text: ANNOUNCED.to_owned(), ..called(&format!("{{\"n\":{number}}}")) }),
    ]
}

fn settings() -> impl Strategy<Value = KillSwitch> {
    let actions = prop::sample::select(vec![Action::Deactivate, Action::Block, Action::Observe]);
    let countings = prop::sample::select(vec![Counting::Adaptive, Counting::Literal]);
    (any::<bool>(), 2..9_u16, 1..12_u8, actions, countings).prop_map(
        |(enabled, window_size, threshold, action, counting)| {
            let threshold = f64::from(threshold);
            KillSwitch { enabled, window_size, threshold, action, counting }
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => asks().prop_map(Step::Call),
        10 => (any::<prop::sample::Index>(), answers()).prop_map(|(open, answer)| Step::Answer(open, answer)),
        2 => any::<prop::sample::Index>().prop_map(Step::Fail),
        1 => settings().prop_map(Step::Configure),
        1 => (prop::sample::select(vec![ExemptKind::Prompt, ExemptKind::ToolCall]), 1..20_i64)
            .prop_map(|(kind, millis)| Step::Exempt(kind, millis)),
        1 => Just(Step::Revoke),
        1 => Just(Step::Activate),
        1 => Just(Step::Restart),
        1 => Just(Step::Deactivate),
    ];
    prop::collection::vec(step, 1..80)
}

/// The guard and the reference side by side.
struct Pair {
    driver: Driver,
    naive: Naive,
    epoch: Epoch,
    open: Vec<Ticket>,
}

impl Pair {
    fn new(kill_switch: KillSwitch) -> Pair {
        let config =
            GuardConfig { defaults: kill_switch, max_conversations: MAX_CONVERSATIONS, ..GuardConfig::default() };
        let naive = Naive::new(kill_switch, MAX_CONVERSATIONS);
        Pair { driver: Driver::with(config), naive, epoch: Epoch(0), open: Vec::new() }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Call(ask) => self.call(&ask),
            Step::Answer(open, answer) => self.end(open, Some(&answer)),
            Step::Fail(open) => self.end(open, None),
            Step::Configure(kill_switch) => {
                let configured = self.driver.guard.configure(&self.driver.agent, kill_switch);
                assert_eq!(configured.before, self.naive.kill_switch);
                assert_eq!(configured.window_floor, self.naive.configure(kill_switch));
            }
            Step::Exempt(kind, millis) => self.exempt(kind, millis),
            Step::Revoke => {
                self.naive.exemptions.clear();
                self.driver.guard.exempt(&self.driver.agent, Vec::new());
            }
            Step::Activate => {
                self.epoch = self.epoch.next();
                self.driver.guard.activate(&self.driver.agent, self.epoch);
                self.naive.activate();
            }
            Step::Deactivate => {
                let deactivated = self.driver.guard.deactivate(&self.driver.agent, self.driver.now).is_some();
                assert_eq!(deactivated, std::mem::replace(&mut self.naive.active, false));
            }
            Step::Restart => self.restart(),
        }
        self.compare();
    }

    fn exempt(&mut self, kind: ExemptKind, millis: i64) {
        let Some(exempt) = self.naive.newest().and_then(|newest| Exempt::of(newest, kind)) else { return };
        let until = Timestamp::from_millis(self.driver.now.as_millis() + millis);
        self.naive.exemptions.push(Exemption { id: ExemptionId::new(), exempt, until });
        self.naive.exemptions.truncate(Exemption::MOST);
        self.driver.guard.exempt(&self.driver.agent, self.naive.exemptions.clone());
    }

    fn call(&mut self, ask: &Ask) {
        let scored = match self.driver.decide(ask) {
            Decision::Inactive(_) => return assert!(!self.naive.active),
            Decision::Scored(scored) => scored,
        };
        assert!(self.naive.active);
        assert_eq!(scored.fingerprint.number, self.naive.next_number(self.driver.now));
        let (expected, mut expected_released) = self.naive.call(scored.fingerprint);
        assert_eq!(scored.score, self.naive.score);
        assert_eq!(verdict(&scored.verdict), expected);
        let mut released = scored.released;
        released.sort();
        expected_released.sort();
        assert_eq!(released, expected_released);
        if !matches!(expected, Expected::Block | Expected::Kill) {
            self.open.push(scored.ticket);
        }
    }

    fn end(&mut self, open: prop::sample::Index, answer: Option<&Answered>) {
        if self.open.is_empty() {
            return;
        }
        let ticket = self.open.swap_remove(open.index(self.open.len()));
        let print = match answer {
            Some(answer) => self.driver.guard.on_answer(&ticket, answer, self.driver.now),
            None => self.driver.guard.on_failure(&ticket, self.driver.now),
        };
        let expected = ticket.epoch == self.epoch
            && self.naive.end(ticket.call, |entry| {
                let print = print.expect("it is in a window");
                (entry.response, entry.outcome) = (print.response, print.outcome);
            });
        assert_eq!(print.is_some(), expected);
    }

    fn restart(&mut self) {
        let view = self.driver.guard.agent(&self.driver.agent);
        let (window_floor, fingerprints) = self.naive.stored();
        let config = GuardConfig { max_conversations: MAX_CONVERSATIONS, ..GuardConfig::default() };
        self.driver.guard = Guard::new(config);
        self.driver.guard.restore(SavedAgent {
            id: self.driver.agent.clone(),
            deactivation: view.and_then(|view| view.deactivation),
            epoch: self.epoch,
            kill_switch: self.naive.kill_switch,
            window_floor,
            last_seen: view.and_then(|view| view.last_seen),
            exemptions: self.naive.exemptions.clone(),
            fingerprints,
        });
        self.naive.restart();
        self.open.clear();
    }

    fn compare(&self) {
        assert_eq!(self.driver.guard.refuses(&self.driver.agent).is_none(), self.naive.active);
        if let Some(view) = self.driver.guard.agent(&self.driver.agent) {
            assert_eq!(view.current_score, self.naive.score);
            assert_eq!(view.epoch, self.epoch);
            assert_eq!(view.kill_switch, self.naive.kill_switch);
        }
    }
}

fn verdict(verdict: &Verdict) -> Expected {
    match verdict {
        Verdict::Pass => Expected::Pass,
        Verdict::WouldHaveStopped => Expected::WouldHaveStopped,
        Verdict::Observe(incident) => Expected::Observe { incident: incident.is_some() },
        Verdict::Block => Expected::Block,
        Verdict::Kill(_) => Expected::Kill,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_interleaving_equals_the_reference(first in settings(), steps in steps()) {
        let mut pair = Pair::new(first);
        steps.into_iter().for_each(|step| pair.take(step));
    }

    #[test]
    fn the_same_calls_give_the_same_verdicts(first in settings(), steps in steps()) {
        let run = |steps: &[Step]| {
            let mut driver = Driver::new(first);
            let mut seen = Vec::new();
            for step in steps {
                let Step::Call(ask) = step else { continue };
                let Decision::Scored(scored) = driver.decide(ask) else { break };
                seen.push((scored.score, verdict(&scored.verdict), scored.fingerprint.prompt, scored.fingerprint.step));
            }
            seen
        };
        prop_assert_eq!(run(&steps), run(&steps));
    }
}
