//! Replicas that decided some calls alone judge the calls after them as a guard that knows nothing
//! but the log.

use std::collections::HashMap;

use guard::{Decision, Followed, Guard, GuardConfig, NewCall, Ticket, ended_call};
use model::shared_log::{EndedCall, LogPart, LogRecord, ReplicaId};
use model::{Answered, Asked, CallId, Clock, Epoch, Fingerprint, KillSwitch};
use share::{Admission, Admitted, Settlement};

use crate::engine::Case;

const REPLICAS: usize = 3;
const STEPS: usize = 300;

struct Replica {
    id: ReplicaId,
    guard: Guard,
    /// Answers of the engine that are not applied yet.
    answers: Vec<(Admission, LogPart)>,
    /// Calls to end, and whether they were decided alone.
    in_flight: Vec<(Ticket, bool)>,
}

struct Cluster {
    case: Case,
    replicas: Vec<Replica>,
    scores: HashMap<CallId, f64>,
    random: u64,
}

pub(crate) async fn replicas_agree_again_after_deciding_alone(case: Case) {
    for seed in 1..=4 {
        let agent = model::AgentId::parse(&format!("{}-{seed}", case.agent)).unwrap();
        let case = Case { share: case.share.clone(), agent, replica: case.replica };
        case.open_agent(0).await;
        let replica = |_| Replica { id: ReplicaId::new(), guard: guard(), answers: Vec::new(), in_flight: Vec::new() };
        let replicas = (0..REPLICAS).map(replica).collect();
        let mut cluster = Cluster { case, replicas, scores: HashMap::new(), random: seed };
        for _ in 0..STEPS {
            cluster.step().await;
        }
        cluster.compare().await;
    }
}

fn guard() -> Guard {
    let defaults = KillSwitch { enabled: true, threshold: 10_000.0, ..KillSwitch::default() };
    Guard::new(GuardConfig { defaults, ..GuardConfig::default() })
}

impl Cluster {
    fn choose(&mut self, count: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % count
    }

    async fn step(&mut self) {
        let place = self.choose(REPLICAS);
        match self.choose(10) {
            0..=2 => self.arrive(place).await,
            3..=6 => self.apply(place).await,
            7 => self.decide_alone(place).await,
            _ => self.end(place).await,
        }
    }

    async fn arrive(&mut self, place: usize) {
        let (call, words) = (CallId::new(), self.choose(3));
        self.share_calls(place).await;
        let admission = self.admission(place, call, words);
        let answer = self.ask(&admission).await;
        self.replicas[place].answers.push((admission, answer));
    }

    fn admission(&self, place: usize, call: CallId, words: usize) -> Admission {
        let Replica { id, guard, .. } = &self.replicas[place];
        let record = with_call(&self.case, call, words, |call| call.prepare().log_record(*id));
        let seen = guard.log_position(&self.case.agent).seen;
        Admission { seen, call, replica: *id, record: Some(record), ..self.case.admission(0) }
    }

    async fn ask(&self, admission: &Admission) -> LogPart {
        match self.case.share.admit(admission).await.unwrap() {
            Admitted::Granted(grant) => grant.log,
            other => panic!("{other:?}"),
        }
    }

    /// A replica that gets no answer from the engine, which may have admitted the call.
    async fn decide_alone(&mut self, place: usize) {
        let (call, words) = (CallId::new(), self.choose(3));
        if self.choose(2) == 0 {
            self.ask(&self.admission(place, call, words)).await;
        }
        let Replica { guard, in_flight, .. } = &mut self.replicas[place];
        let now = Clock::System.now();
        let decision = with_call(&self.case, call, words, |call| {
            guard.on_call_without_log(call.prepare().of_agent(&self.case.agent), now)
        });
        let Decision::Scored(scored) = decision else { panic!("{decision:?}") };
        in_flight.push((scored.ticket, true));
    }

    /// Applies one of the answers to a replica, not always the oldest.
    async fn apply(&mut self, place: usize) {
        if self.replicas[place].answers.is_empty() {
            return;
        }
        let chosen = self.choose(self.replicas[place].answers.len());
        let (admission, mut log) = self.replicas[place].answers.swap_remove(chosen);
        let (agent, call) = (self.case.agent.clone(), admission.call);
        loop {
            let Replica { id, guard, in_flight, .. } = &mut self.replicas[place];
            match guard.follow(&agent, &log, (*id, call), None) {
                Followed::Decided(Decision::Scored(scored)) => {
                    self.scores.insert(call, scored.score.value);
                    in_flight.push((scored.ticket, false));
                    return;
                }
                Followed::Behind => {}
                other => panic!("{other:?}"),
            }
            self.share_calls(place).await;
            let seen = self.replicas[place].guard.log_position(&agent).seen;
            log = self.ask(&Admission { seen, ..admission.clone() }).await;
        }
    }

    /// Adds the calls that a replica decided alone to the log.
    async fn share_calls(&self, place: usize) {
        let (guard, agent) = (&self.replicas[place].guard, &self.case.agent);
        if let Some(unshared) = guard.unshared_calls(agent) {
            let records: Vec<LogRecord> = unshared.iter().copied().map(LogRecord::Restored).collect();
            self.case.share.append(agent, Epoch(0), &records).await.unwrap();
            guard.leave_log(agent, &unshared);
        }
    }

    async fn end(&mut self, place: usize) {
        if self.replicas[place].in_flight.is_empty() {
            return;
        }
        let chosen = self.choose(self.replicas[place].in_flight.len());
        let (ticket, was_alone) = self.replicas[place].in_flight.swap_remove(chosen);
        let text = format!("Let me look at it once more {}", ticket.call.0.as_u128() % 2);
        let ended = ended_call(&ticket, Some(&Answered { text, ..Answered::default() }));
        match was_alone {
            true => self.end_alone(place, &ticket, ended).await,
            false => self.settle(place, ended).await,
        }
    }

    async fn end_alone(&self, place: usize, ticket: &Ticket, ended: EndedCall) {
        if !self.replicas[place].guard.end_without_log(ticket, &ended, Clock::System.now()) {
            self.case.share.append(&self.case.agent, ticket.epoch, &[LogRecord::Ended(ended)]).await.unwrap();
        }
    }

    async fn settle(&self, place: usize, ended: EndedCall) {
        let settlement = Settlement {
            agent: self.case.agent.clone(),
            epoch: Epoch(0),
            call: ended.call,
            replica: self.replicas[place].id,
            record: Some(LogRecord::Ended(ended)),
            charges: Vec::new(),
            was_alone: false,
            is_repeated: false,
        };
        self.case.share.settle(&settlement).await.unwrap();
    }

    /// Follows the log from its beginning with a fresh guard.
    async fn compare(&self) {
        let log = self.case.share.log(&self.case.agent).await.unwrap().unwrap();
        assert!(log.entries.iter().any(|entry| matches!(entry.record, LogRecord::Restored(_))), "some were alone");
        let (fresh, mut compared) = (guard(), 0);
        for (place, entry) in log.entries.iter().enumerate() {
            let LogRecord::Arrived(replica, Fingerprint { call, .. }) = entry.record else { continue };
            let part = LogPart { entries: log.entries[..=place].to_vec(), ..log.clone() };
            let followed = fresh.follow(&self.case.agent, &part, (replica, call), None);
            let Followed::Decided(Decision::Scored(scored)) = followed else { panic!("{followed:?}") };
            if let Some(score) = self.scores.get(&call) {
                assert_eq!(*score, scored.score.value, "record {place} of the log");
                compared += 1;
            }
        }
        assert!(compared > STEPS / 10, "{compared}");
    }
}

/// A call with one of a few texts, as it reaches a guard.
fn with_call<R>(case: &Case, call: CallId, words: usize, use_call: impl FnOnce(NewCall<'_>) -> R) -> R {
    let prompts = [
        "Please run the tests of the parser again and tell me what fails",
        "Read the log of the deployment and find out why the server stopped",
        "Write a summary of the meeting notes from Tuesday for the team",
    ];
    let asked = Asked { prompt: vec![prompts[words].into()], ..Asked::default() };
    let body = call.0.as_bytes();
    use_call(NewCall { agent: &case.agent, call, conversation: "one", body, asked: &asked })
}
