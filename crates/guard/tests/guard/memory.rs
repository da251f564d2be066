//! Memory is bounded, and what must not be forgotten is not.

use guard::{Guard, GuardConfig, NewCall};
use model::{AgentId, Asked, CallId, Counting, Epoch, KillSwitch, Timestamp};

use crate::driver::{Ask, Driver, counts, enabled};

const QUESTION: &str = "Please look up the weather in Berlin and tell me whether I need an umbrella";

fn name(index: usize) -> AgentId {
    AgentId::parse(&format!("agent-{index}")).unwrap()
}

fn call(guard: &Guard, agent: &AgentId, time: usize) {
    let asked = Asked { prompt: vec![QUESTION.into()], ..Asked::default() };
    let call = NewCall { agent, call: CallId::new(), conversation: "c", body: b"{}", asked: &asked };
    guard.on_call(&call, Timestamp::from_millis(time as i64));
}

#[test]
fn the_least_recently_used_agents_leave_first() {
    let guard = Guard::new(GuardConfig { max_agents: 3, ..GuardConfig::default() });
    for (time, index) in [0, 1, 2, 0, 3].into_iter().enumerate() {
        call(&guard, &name(index), time);
    }
    let known: Vec<usize> = (0..4).filter(|index| guard.agent(&name(*index)).is_some()).collect();
    assert_eq!(known, [0, 2, 3]);
}

#[test]
fn decisions_of_people_are_never_evicted() {
    let guard = Guard::new(GuardConfig { max_agents: 2, ..GuardConfig::default() });
    let now = Timestamp::from_millis(1);
    let changed = KillSwitch { threshold: 7.0, ..KillSwitch::default() };
    guard.deactivate(&name(0), now);
    guard.activate(&name(1), Epoch(3));
    guard.configure(&name(2), changed);
    (3..1_000).for_each(|index| call(&guard, &name(index), index));
    assert!(guard.refuses(&name(0)).is_some());
    assert_eq!(guard.agent(&name(1)).unwrap().epoch, Epoch(3));
    assert_eq!(guard.agent(&name(2)).unwrap().kill_switch, changed);
}

#[test]
fn a_killed_agent_stays_killed_when_its_windows_go() {
    let config = GuardConfig { max_agents: 2, defaults: enabled(0.5, Counting::Literal), ..GuardConfig::default() };
    let guard = Guard::new(config);
    (0..2).for_each(|time| call(&guard, &name(0), time));
    (1..100).for_each(|index| call(&guard, &name(index), index));
    assert!(guard.refuses(&name(0)).is_some());
    assert!(guard.agent(&name(1)).is_none());
}

/// Or a restart would take what is stored from before for the newest, and leave out what came
/// after.
#[test]
fn an_agent_that_comes_back_is_numbered_above_its_old_calls() {
    let defaults = enabled(100.0, Counting::Literal);
    let mut driver = Driver::with(GuardConfig { max_agents: 1, defaults, ..GuardConfig::default() });
    let before: Vec<u64> = (0..5).map(|_| driver.call(&Ask::new(QUESTION)).fingerprint.number).collect();
    assert!(before.is_sorted_by(|one, next| one + 1 == *next), "{before:?}");
    call(&driver.guard, &name(0), 2_000);
    assert!(driver.guard.agent(&driver.agent).is_none(), "it has left");
    let back = driver.call(&Ask::new(QUESTION));
    assert_eq!(counts(&back), (0, 0, 0));
    assert!(back.fingerprint.number > before[4]);
}

#[test]
fn very_many_names_reach_a_plateau() {
    let guard = Guard::new(GuardConfig { max_agents: 500, ..GuardConfig::default() });
    for index in 0..20_000 {
        if index % 2 == 0 {
            call(&guard, &name(index), index);
        } else {
            guard.on_unscored_call(&name(index), Timestamp::from_millis(index as i64));
        }
    }
    let known = (0..20_000).filter(|index| guard.agent(&name(*index)).is_some()).count();
    assert!((400..=500).contains(&known), "{known}");
}

#[test]
fn the_least_recently_used_conversation_leaves_first() {
    let config = GuardConfig {
        defaults: KillSwitch { window_size: 2, ..enabled(100.0, Counting::Literal) },
        max_conversations: 2,
        ..GuardConfig::default()
    };
    let mut driver = Driver::with(config);
    let first = driver.call(&Ask::new(QUESTION).within("a")).ticket.call;
    driver.call(&Ask::new("b").within("b"));
    assert!(driver.call(&Ask::new("b").within("b")).released.is_empty(), "it stands in the window of its conversation");
    assert_eq!(driver.call(&Ask::new("c").within("c")).released, [first]);
    assert_eq!(counts(&driver.call(&Ask::new(QUESTION).within("a"))), (0, 0, 0));
}

#[test]
fn the_calls_of_a_forgotten_agent_are_told_with_the_next_call_of_any() {
    let mut driver = Driver::new(KillSwitch::default());
    let calls: Vec<CallId> = (0..3).map(|_| driver.call(&Ask::new(QUESTION)).ticket.call).collect();
    driver.guard.forget(&driver.agent);
    driver.guard.forget(&name(7));
    driver.agent = name(1);
    assert_eq!(driver.call(&Ask::new(QUESTION)).released, calls);
    assert_eq!(driver.call(&Ask::new(QUESTION)).released, Vec::new());
}

#[test]
fn the_calls_of_an_evicted_agent_are_told_with_the_next_call_of_any() {
    let mut driver = Driver::with(GuardConfig { max_agents: 1, ..GuardConfig::default() });
    let calls: Vec<CallId> = (0..3).map(|_| driver.call(&Ask::new(QUESTION)).ticket.call).collect();
    driver.agent = name(1);
    assert_eq!(driver.call(&Ask::new(QUESTION)).released, calls);
    assert_eq!(driver.call(&Ask::new(QUESTION)).released, Vec::new());
}

#[test]
fn the_calls_of_an_evicted_agent_with_settings_are_told_too() {
    let mut driver = Driver::with(GuardConfig { max_agents: 1, ..GuardConfig::default() });
    let calls: Vec<CallId> = (0..3).map(|_| driver.call(&Ask::new(QUESTION)).ticket.call).collect();
    driver.guard.configure(&driver.agent, enabled(7.0, Counting::Literal));
    driver.agent = name(1);
    assert_eq!(driver.call(&Ask::new(QUESTION)).released, calls);
}

/// More agents than have their windows open at one time.
#[test]
fn agents_that_rest_are_judged_as_if_they_had_not() {
    const AGENTS: usize = 5_000;
    let defaults = enabled(100.0, Counting::Literal);
    let guard = Guard::new(GuardConfig { defaults, ..GuardConfig::default() });
    for round in 0..5 {
        (0..AGENTS).for_each(|index| call(&guard, &name(index), round));
    }
    for index in 0..AGENTS {
        assert_eq!(guard.agent(&name(index)).unwrap().current_score.signals.similar_prompts, 4, "{index}");
    }
}
