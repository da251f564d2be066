//! Many calls at once.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use guard::{Decision, Guard, GuardConfig, NewCall, Verdict};
use model::{AgentId, Answered, Asked, CallId, Counting, Epoch, KillSwitch, Timestamp};

use crate::driver::enabled;

const QUESTION: &str = "Please look up the weather in Berlin and tell me whether I need an umbrella";

fn call(guard: &Guard, agent: &AgentId) -> Decision {
    let asked = Asked { prompt: vec![QUESTION.into()], ..Asked::default() };
    let call = NewCall { agent, call: CallId::new(), conversation: "c", body: b"{}", asked: &asked };
    guard.on_call(&call, Timestamp::from_millis(1))
}

#[test]
fn two_hundred_calls_at_once_make_one_kill() {
    let guard = Guard::new(GuardConfig { defaults: enabled(50.0, Counting::Literal), ..GuardConfig::default() });
    guard.configure(&AgentId::parse("a").unwrap(), KillSwitch { window_size: 100, ..enabled(50.0, Counting::Literal) });
    for epoch in 1..=5 {
        let (kills, passed, refused) = race(&guard, Epoch(epoch));
        // Calls 1 to 51 score at most 50, the next one is the kill.
        assert_eq!((kills, passed, refused), (1, 51, 148));
    }
}

fn race(guard: &Guard, epoch: Epoch) -> (usize, usize, usize) {
    let agent = AgentId::parse("a").unwrap();
    let [kills, passed, refused] = [(); 3].map(|()| AtomicUsize::new(0));
    guard.activate(&agent, epoch);
    let start = Barrier::new(200);
    std::thread::scope(|scope| {
        for _ in 0..200 {
            scope.spawn(|| {
                start.wait();
                let counter = match call(guard, &agent) {
                    Decision::Inactive(_) => &refused,
                    Decision::Scored(scored) if matches!(scored.verdict, Verdict::Kill(_)) => &kills,
                    Decision::Scored(_) => &passed,
                };
                counter.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    (kills.into_inner(), passed.into_inner(), refused.into_inner())
}

#[test]
fn agents_that_come_and_go_at_once_lose_no_kill() {
    let config = GuardConfig { defaults: enabled(0.5, Counting::Literal), max_agents: 4, ..GuardConfig::default() };
    let guard = Guard::new(config);
    let names: Vec<AgentId> = (0..32).map(|index| AgentId::parse(&format!("a{index}")).unwrap()).collect();
    let kills: Vec<AtomicUsize> = names.iter().map(|_| AtomicUsize::new(0)).collect();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (guard, names, kills) = (&guard, &names, &kills);
            scope.spawn(move || {
                for round in 0..400 {
                    let index = (round * 7 + thread * 3) % names.len();
                    let Decision::Scored(scored) = call(guard, &names[index]) else { continue };
                    match scored.verdict {
                        Verdict::Kill(_) => drop(kills[index].fetch_add(1, Ordering::Relaxed)),
                        _ => drop(guard.on_answer(&scored.ticket, &Answered::default(), Timestamp::from_millis(1))),
                    }
                }
            });
        }
    });
    for (name, kills) in names.iter().zip(kills) {
        let is_killed = guard.refuses(name).is_some();
        assert_eq!(kills.into_inner(), usize::from(is_killed), "{name}");
    }
}
