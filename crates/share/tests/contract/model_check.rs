//! Several guards that share a log decide as one guard that sees the same calls in the same order:
//! with answers that are lost, repeated or applied late, and across activations.

use std::collections::HashMap;

use guard::{Decision, Followed, Guard, GuardConfig, NewCall, Ticket, Verdict, ended_call};
use model::shared_log::{LogPart, LogRecord, ReplicaId};
use model::{Action, Answered, Asked, CallId, Counting, Epoch, KillSwitch, Score};
use share::{Admission, Admitted, Killed, Opening, Settlement, Takeover};

use crate::engine::Case;

const REPLICAS: usize = 3;
const STEPS: usize = 400;

/// The decision on a call.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Scored(Score, &'static str),
    Inactive,
}

impl Outcome {
    fn of(decision: &Decision) -> Outcome {
        let Decision::Scored(scored) = decision else { return Outcome::Inactive };
        let verdict = match scored.verdict {
            Verdict::Pass => "pass",
            Verdict::WouldHaveStopped => "would have stopped",
            Verdict::Observe(_) => "observe",
            Verdict::Block => "block",
            Verdict::Kill(_) => "kill",
        };
        Outcome::Scored(scored.score, verdict)
    }
}

struct Replica {
    id: ReplicaId,
    guard: Guard,
    /// Answers of the engine that are not applied yet.
    answers: Vec<(Admission, LogPart)>,
}

struct Cluster {
    case: Case,
    replicas: Vec<Replica>,
    /// The reference: one process that sees the same order.
    one: Guard,
    seen_by_one: u64,
    reader: ReplicaId,
    words: HashMap<CallId, u64>,
    expected: HashMap<CallId, (Decision, Outcome)>,
    decided: HashMap<CallId, Outcome>,
    in_flight: Vec<(ReplicaId, Ticket)>,
    epoch: Epoch,
    random: u64,
}

pub(crate) async fn replicas_decide_as_one_guard(case: Case) {
    let deactivate = [(1, Action::Deactivate), (2, Action::Deactivate)];
    let others = [(3, Action::Observe), (4, Action::Block), (5, Action::Block)];
    for (seed, action) in deactivate.into_iter().chain(others) {
        let agent = model::AgentId::parse(&format!("{}-{seed}", case.agent)).unwrap();
        let case = Case { share: case.share.clone(), agent, replica: case.replica };
        let mut cluster = Cluster::start(case, seed, action).await;
        for _ in 0..STEPS {
            cluster.step().await;
        }
        while cluster.replicas.iter().any(|replica| !replica.answers.is_empty()) {
            for place in 0..REPLICAS {
                cluster.apply(place).await;
            }
        }
        cluster.compare(seed);
    }
}

impl Cluster {
    async fn start(case: Case, seed: u8, action: Action) -> Cluster {
        let counting = if seed.is_multiple_of(2) { Counting::Literal } else { Counting::Adaptive };
        let defaults = KillSwitch { enabled: true, action, window_size: 8, threshold: 4.0, counting };
        let guard = || Guard::new(GuardConfig { defaults, ..GuardConfig::default() });
        let replica = |_| Replica { id: ReplicaId::new(), guard: guard(), answers: Vec::new() };
        case.open_agent(0).await;
        let cluster = Cluster {
            replicas: (0..REPLICAS).map(replica).collect(),
            one: guard(),
            seen_by_one: 0,
            reader: case.replica,
            case,
            words: HashMap::new(),
            expected: HashMap::new(),
            decided: HashMap::new(),
            in_flight: Vec::new(),
            epoch: Epoch(0),
            random: seed.into(),
        };
        for place in 0..REPLICAS {
            cluster.case.share.beat(cluster.replicas[place].id).await.unwrap();
        }
        cluster
    }

    fn choose(&mut self, count: u64) -> u64 {
        // SplitMix64: the same steps on every engine.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % count
    }

    async fn step(&mut self) {
        let place = self.choose(REPLICAS as u64) as usize;
        match self.choose(10) {
            0..=3 => self.arrive(place).await,
            4..=6 => self.apply(place).await,
            7..=8 => self.end().await,
            _ => self.activate().await,
        }
    }

    /// A call comes to a replica. The engine's answer may be lost; the replica then asks again.
    async fn arrive(&mut self, place: usize) {
        let (call, words) = (CallId::new(), self.choose(3));
        self.words.insert(call, words);
        let replica = &self.replicas[place];
        let position = replica.guard.log_position(&self.case.agent);
        let record = with_call(&self.case, call, words, |call| call.prepare().log_record(replica.id));
        let admission = Admission {
            epoch: position.epoch,
            seen: position.seen,
            call,
            replica: replica.id,
            record: Some(record),
            ..self.case.admission(0)
        };
        if self.choose(5) == 0 {
            let _lost = self.case.share.admit(&admission).await.unwrap();
            self.read().await;
        }
        self.ask(place, admission).await;
    }

    async fn ask(&mut self, place: usize, admission: Admission) {
        let (guard, agent) = (&self.replicas[place].guard, self.case.agent.clone());
        match self.case.share.admit(&admission).await.unwrap() {
            Admitted::Granted(grant) => self.replicas[place].answers.push((admission, grant.log)),
            Admitted::Epoch(epoch) => guard.activate(&agent, epoch),
            Admitted::Killed(killed) => {
                let by = model::DeactivatedBy::KillSwitch;
                let deactivation = model::Deactivation { by, at: killed.at, incident: killed.incident };
                guard.adopt_deactivation(&agent, admission.epoch, deactivation);
            }
            other => panic!("{other:?}"),
        }
        self.read().await;
    }

    /// A replica applies one of the answers it got, not always the oldest.
    async fn apply(&mut self, place: usize) {
        let count = self.replicas[place].answers.len() as u64;
        if count == 0 {
            return;
        }
        let chosen = self.choose(count) as usize;
        let (admission, log) = self.replicas[place].answers.swap_remove(chosen);
        let replica = &self.replicas[place];
        let was_refused = replica.guard.refuses(&self.case.agent).is_some();
        match replica.guard.follow(&self.case.agent, &log, (replica.id, admission.call), None) {
            // The replica learned of the kill first: the call is refused whatever its place in the
            // log.
            Followed::Decided(Decision::Inactive(_)) if was_refused => {}
            Followed::Decided(decision) => self.decide(place, admission, decision).await,
            Followed::Behind => {
                let position = replica.guard.log_position(&self.case.agent);
                if position.epoch != log.epoch {
                    // The call belongs to an earlier epoch.
                    self.expected.remove(&admission.call);
                    return;
                }
                self.ask(place, Admission { seen: position.seen, ..admission }).await;
            }
            other => panic!("{other:?}"),
        }
    }

    async fn decide(&mut self, place: usize, admission: Admission, decision: Decision) {
        self.decided.insert(admission.call, Outcome::of(&decision));
        let replica = self.replicas[place].id;
        let Decision::Scored(scored) = decision else { return };
        match scored.verdict {
            Verdict::Kill(kill) => {
                let killed = Killed { incident: Some(kill.incident), at: kill.at };
                let takeover = self.case.share.kill(&self.case.agent, admission.epoch, killed).await.unwrap();
                assert!(matches!(takeover, Takeover::Won | Takeover::Epoch(_)), "{takeover:?}");
            }
            Verdict::Block => {}
            _ => self.in_flight.push((replica, scored.ticket)),
        }
    }

    /// A call ends. Its end may be reported twice.
    async fn end(&mut self) {
        if self.in_flight.is_empty() {
            return;
        }
        let chosen = self.choose(self.in_flight.len() as u64) as usize;
        let (replica, ticket) = self.in_flight.swap_remove(chosen);
        let answered = self.answered(&ticket);
        let settlement = Settlement {
            agent: self.case.agent.clone(),
            epoch: ticket.epoch,
            call: ticket.call,
            replica,
            record: Some(LogRecord::Ended(ended_call(&ticket, answered.as_ref()))),
            charges: Vec::new(),
            was_alone: false,
            is_repeated: false,
        };
        for _ in 0..=self.choose(2) {
            self.case.share.settle(&settlement).await.unwrap();
        }
        self.read().await;
    }

    /// The answer to a call; every fifth fails.
    fn answered(&self, ticket: &Ticket) -> Option<Answered> {
        let id = ticket.call.0.as_u128();
        (!id.is_multiple_of(5))
            .then(|| Answered { text: format!("Let me look at it once more {}", id % 2), ..Answered::default() })
    }

    /// A person activates the agent on some replica, if it is inactive. Answers still on their way
    /// belong to the old epoch.
    async fn activate(&mut self) {
        if self.one.refuses(&self.case.agent).is_none() {
            return;
        }
        // The replica that found a kill carries it out first.
        let status = self.case.share.status(&self.case.agent).await.unwrap().unwrap();
        if status.killed.is_none() {
            return;
        }
        self.epoch = self.epoch.next();
        let opening = Opening { epoch: self.epoch, ..self.case.opening(0) };
        self.case.share.open(&opening).await.unwrap();
        self.one.activate(&self.case.agent, self.epoch);
        let place = self.choose(REPLICAS as u64) as usize;
        self.replicas[place].guard.activate(&self.case.agent, self.epoch);
    }

    /// Feeds new log records to the reference guard, as one process would see them.
    async fn read(&mut self) {
        let call = CallId::new();
        let reading = Admission {
            epoch: self.epoch,
            seen: self.seen_by_one,
            call,
            replica: self.reader,
            record: None,
            ..self.case.admission(0)
        };
        let Admitted::Granted(grant) = self.case.share.admit(&reading).await.unwrap() else { return };
        for entry in grant.log.entries {
            self.seen_by_one = entry.position;
            match entry.record {
                LogRecord::Arrived(_, print) => {
                    let words = self.words[&print.call];
                    let decision = with_call(&self.case, print.call, words, |call| self.one.on_call(&call, entry.at));
                    let outcome = Outcome::of(&decision);
                    self.expected.insert(print.call, (decision, outcome));
                }
                LogRecord::Ended(ended) => {
                    let Decision::Scored(scored) = &self.expected[&ended.call].0 else { continue };
                    match self.answered(&scored.ticket) {
                        Some(answered) => self.one.on_answer(&scored.ticket, &answered, entry.at),
                        None => self.one.on_failure(&scored.ticket, entry.at),
                    };
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn compare(&self, seed: u8) {
        let mut kinds: HashMap<String, usize> = HashMap::new();
        for (call, decided) in &self.decided {
            let (_, expected) = &self.expected[call];
            assert_eq!(decided, expected, "seed {seed}");
            let kind = if let Outcome::Scored(_, verdict) = decided { verdict } else { "inactive" };
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
        assert!(kinds.len() > 1, "loops were found and other calls passed: {kinds:?}");
        assert!(self.decided.len() > STEPS / 20, "{}", self.decided.len());
    }
}

/// A call with one of a few texts, as it reaches a guard.
fn with_call<R>(case: &Case, call: CallId, words: u64, use_call: impl FnOnce(NewCall<'_>) -> R) -> R {
    let prompts = [
        "Please run the tests of the parser again and tell me what fails",
        "Read the log of the deployment and find out why the server stopped",
        "Write a summary of the meeting notes from Tuesday for the team",
    ];
    let asked = Asked { prompt: vec![prompts[words as usize].into()], ..Asked::default() };
    // The same body while another call with it is in flight counts as a sample.
    let body = if words == 1 { b"the same".as_slice() } else { call.0.as_bytes() };
    let conversation = if words == 2 { "two" } else { "one" };
    use_call(NewCall { agent: &case.agent, call, conversation, body, asked: &asked })
}
