//! What policies let through, and what is left of them afterwards.

use std::sync::Arc;

use guard::{Budget, Charge, Limits, Policies, Refused, Reservation, conversation_id};
use model::{AgentId, BudgetPeriod, ClockJump, NanoUsd, Policy, PolicyChange, Spending, Timestamp};
use proptest::prelude::*;

const NOON: i64 = 1_794_744_000_000; // 2026-11-15T12:00:00Z, a Sunday
const DAY: i64 = 86_400_000;

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(NOON + millis)
}

pub(crate) fn bot() -> AgentId {
    AgentId::parse("bot").unwrap()
}

fn policy(json: &str) -> Policy {
    serde_json::from_str::<PolicyChange>(json).unwrap().apply(&Policy::default()).unwrap()
}

pub(crate) fn policies(json: &str) -> Policies {
    let policies = Policies::new(Policy::default(), 100);
    policies.put(&bot(), policy(json), None, at(0));
    policies
}

pub(crate) fn limits(policies: &Policies) -> Arc<Limits> {
    policies.of(&bot(), at(0)).unwrap()
}

pub(crate) fn charge(millis: i64, nanos: i64) -> Charge {
    Charge {
        time: at(millis),
        provider: "openai".to_owned(),
        conversation: Some(conversation_id("c1")),
        cost: NanoUsd::new(nanos),
        ..Charge::default()
    }
}

const HELD: Refused = Refused::BudgetHeld { renewed_in_seconds: None };

/// Why it is refused; for how long is told in `retry_after`.
fn why(refused: Refused) -> Refused {
    match refused {
        Refused::BudgetExceeded { budget, limit, .. } => {
            Refused::BudgetExceeded { budget, limit, renewed_in_seconds: None }
        }
        Refused::BudgetHeld { .. } => HELD,
        other => other,
    }
}

fn admit(policies: &Policies, charge: Charge) -> Result<Reservation, Refused> {
    let now = charge.time;
    limits(policies).admit(charge, now).map_err(|(refused, _)| why(refused))
}

/// A call that costs what it was thought to.
fn spend(policies: &Policies, charge: Charge) -> Result<(), Refused> {
    let reservation = admit(policies, charge.clone())?;
    policies.settle(&bot(), Some(reservation), &charge);
    Ok(())
}

fn exceeded(budget: Budget, nanos: i64) -> Result<(), Refused> {
    Err(Refused::BudgetExceeded { budget, limit: NanoUsd::new(nanos), renewed_in_seconds: None })
}

#[test]
fn an_agent_without_a_policy_is_not_counted() {
    let policies = Policies::new(Policy::default(), 100);
    assert!(policies.of(&bot(), at(0)).is_none());
    policies.settle(&bot(), None, &charge(0, 1));
    assert!(policies.of(&bot(), at(0)).is_none());
}

#[test]
fn each_budget_holds_for_its_own_time() {
    let check = |json: &str, budget: Budget, over: i64| {
        let policies = policies(json);
        assert_eq!(spend(&policies, charge(0, 60)), Ok(()));
        assert_eq!(spend(&policies, charge(1, 60)), Ok(()), "the call that goes over it is the last one");
        assert_eq!(spend(&policies, charge(2, 1)), exceeded(budget, 100));
        assert_eq!(spend(&policies, charge(over - 1, 1)), exceeded(budget, 100));
        assert!(limits(&policies).is_spent(at(over - 1)) && !limits(&policies).is_spent(at(over)));
        assert_eq!(spend(&policies, charge(over, 1)), Ok(()));
    };
    let midnight = DAY / 2;
    check(r#"{"budget_daily_usd":1e-7}"#, Budget::Of(BudgetPeriod::Day), midnight);
    check(r#"{"budget_weekly_usd":1e-7}"#, Budget::Of(BudgetPeriod::Week), midnight);
    check(r#"{"budget_monthly_usd":1e-7}"#, Budget::Of(BudgetPeriod::Month), midnight + 15 * DAY);
    check(r#"{"budget_daily_usd":1e-7,"time_zone":"Asia/Tokyo"}"#, Budget::Of(BudgetPeriod::Day), 3 * DAY / 24);
}

#[test]
fn a_conversation_has_a_budget_of_its_own() {
    let policies = policies(r#"{"budget_conversation_usd":1e-7}"#);
    assert_eq!(spend(&policies, charge(0, 100)), Ok(()));
    assert_eq!(spend(&policies, charge(1, 1)), exceeded(Budget::Conversation, 100));
    assert_eq!(spend(&policies, charge(40 * DAY, 1)), exceeded(Budget::Conversation, 100));
    let other = Charge { conversation: Some(conversation_id("c2")), ..charge(2, 1) };
    assert_eq!(spend(&policies, other), Ok(()));
    // The oldest of very many is forgotten, one that is in use is not.
    let _in_flight =
        admit(&policies, Charge { conversation: Some(conversation_id("busy")), ..charge(3, 100) }).unwrap();
    for number in 0..3000 {
        let other = Charge { conversation: Some(conversation_id(&format!("n{number}"))), ..charge(4, 100) };
        assert_eq!(spend(&policies, other), Ok(()));
    }
    let busy = Charge { conversation: Some(conversation_id("busy")), ..charge(5, 1) };
    assert_eq!(admit(&policies, busy).err(), Some(HELD));
}

#[test]
fn a_budget_of_nothing_lets_nothing_through() {
    assert_eq!(spend(&policies(r#"{"budget_daily_usd":0}"#), charge(0, 0)), exceeded(Budget::Of(BudgetPeriod::Day), 0));
}

#[test]
fn reservations_hold_until_their_calls_are_settled() {
    let policies = policies(r#"{"budget_daily_usd":1e-7}"#);
    let first = admit(&policies, charge(0, 50)).unwrap();
    let second = admit(&policies, charge(0, 50)).unwrap();
    assert_eq!(admit(&policies, charge(0, 50)).err(), Some(HELD));
    // It came to nothing: its client went away, or something broke.
    drop(first);
    let third = admit(&policies, charge(0, 50)).unwrap();
    policies.settle(&bot(), Some(second), &charge(0, 10));
    policies.settle(&bot(), Some(third), &charge(0, 90));
    assert_eq!(spend(&policies, charge(0, 1)), exceeded(Budget::Of(BudgetPeriod::Day), 100));
    assert_eq!(limits(&policies).spent(at(0))[0], NanoUsd::new(100));
}

#[test]
fn a_call_over_midnight_belongs_to_the_day_it_came_in() {
    let policies = policies(r#"{"budget_daily_usd":1e-7}"#);
    let late = charge(DAY / 2 - 1, 100);
    let reservation = admit(&policies, late.clone()).unwrap();
    let early = admit(&policies, charge(DAY / 2 + 1, 30)).unwrap();
    policies.settle(&bot(), Some(reservation), &late);
    assert_eq!(limits(&policies).spent(at(DAY / 2 + 2)), [0, 0, 100].map(NanoUsd::new), "Sunday's week is over too");
    policies.settle(&bot(), Some(early), &charge(DAY / 2 + 1, 30));
    assert_eq!(limits(&policies).spent(at(DAY / 2 + 2)), [30, 30, 130].map(NanoUsd::new));
}

#[test]
fn a_clock_that_is_set_back_makes_no_budget_anew() {
    let policies = policies(r#"{"budget_daily_usd":1e-7}"#);
    assert_eq!(spend(&policies, charge(5 * DAY, 100)), Ok(()));
    assert_eq!(spend(&policies, charge(0, 1)), exceeded(Budget::Of(BudgetPeriod::Day), 100));
}

#[test]
fn clock_that_is_set_forth_makes_no_budget_anew() {
    for called_before_it_is_noticed in [false, true] {
        let policies = policies(r#"{"budget_daily_usd":1e-7}"#);
        assert_eq!(spend(&policies, charge(0, 100)), Ok(()));
        if called_before_it_is_noticed {
            assert_eq!(spend(&policies, charge(DAY, 1)), Ok(()));
        }
        policies.set_clock(ClockJump { expected: at(1_000), now: at(DAY + 1_000) });
        let spent = exceeded(Budget::Of(BudgetPeriod::Day), 100);
        assert_eq!(spend(&policies, charge(DAY + 2_000, 1)), spent, "{called_before_it_is_noticed}");
        // And back again.
        policies.set_clock(ClockJump { expected: at(DAY + 3_000), now: at(3_000) });
        assert_eq!(spend(&policies, charge(4_000, 1)), spent);
        // The next day is a new one.
        assert_eq!(spend(&policies, charge(2 * DAY, 1)), Ok(()));
    }
}

#[test]
fn clock_that_is_set_forth_within_the_day_changes_no_budget() {
    let policies = policies(r#"{"budget_daily_usd":1e-7}"#);
    assert_eq!(spend(&policies, charge(0, 60)), Ok(()));
    policies.set_clock(ClockJump { expected: at(1_000), now: at(3_600_000) });
    assert_eq!(limits(&policies).spent(at(3_600_001))[0], NanoUsd::new(60));
    // A real new day begins anew.
    assert_eq!(limits(&policies).spent(at(DAY))[0], NanoUsd::ZERO);
}

#[test]
fn rates_count_calls_per_provider_and_over_all() {
    let policies = policies(
        r#"{"rate_limits":[{"provider":"*","requests_per_minute":3},{"provider":"openai","requests_per_minute":2}]}"#,
    );
    let to = |provider: &str, millis: i64| Charge { provider: provider.to_owned(), ..charge(millis, 0) };
    let limited = |retry_after_seconds| Err(Refused::RateLimited { retry_after_seconds });
    assert_eq!(spend(&policies, to("openai", 0)), Ok(()));
    assert_eq!(spend(&policies, to("openai", 5_000)), Ok(()));
    assert_eq!(spend(&policies, to("openai", 10_000)), limited(50));
    assert_eq!(limits(&policies).precheck("openai", at(10_000)), limited(50));
    assert_eq!(spend(&policies, to("anthropic", 10_000)), Ok(()));
    assert_eq!(spend(&policies, to("anthropic", 20_000)), limited(40));
    assert_eq!(spend(&policies, to("openai", 60_000)), Ok(()), "refused calls are not counted");
}

#[test]
fn tokens_are_counted_as_they_turn_out() {
    let policies = policies(r#"{"rate_limits":[{"provider":"*","tokens_per_minute":1000}]}"#);
    let tokens = |millis: i64, tokens: u64| Charge { tokens, ..charge(millis, 0) };
    let first = admit(&policies, tokens(0, 600)).unwrap();
    assert_eq!(admit(&policies, tokens(0, 600)).err(), Some(Refused::RateLimited { retry_after_seconds: 60 }));
    policies.settle(&bot(), Some(first), &tokens(0, 100));
    assert_eq!(spend(&policies, tokens(0, 600)), Ok(()));
    let larger = admit(&policies, tokens(30_000, 100)).unwrap();
    policies.settle(&bot(), Some(larger), &tokens(30_000, 5_000));
    assert_eq!(spend(&policies, tokens(60_000, 1)), Err(Refused::RateLimited { retry_after_seconds: 30 }));
    assert_eq!(spend(&policies, tokens(90_000, 99_999)), Ok(()), "one that never fits passes alone");
}

#[test]
fn hours_go_before_rates_and_rates_before_budgets() {
    let hours = r#""allowed_hours":[{"days":["mon"],"from":"09:00","to":"18:00"}]"#;
    let rates = r#""rate_limits":[{"provider":"*","requests_per_minute":1}]"#;
    let all = policies(&format!(r#"{{{hours},{rates},"budget_daily_usd":0}}"#));
    assert_eq!(spend(&all, charge(0, 0)), Err(Refused::OutsideHours));
    assert_eq!(limits(&all).precheck("openai", at(0)), Err(Refused::OutsideHours));
    let two = policies(&format!(r#"{{{rates},"budget_daily_usd":1e-9}}"#));
    assert_eq!(spend(&two, charge(0, 1)), Ok(()));
    assert_eq!(spend(&two, charge(1000, 1)), Err(Refused::RateLimited { retry_after_seconds: 59 }));
    assert_eq!(spend(&two, charge(60_000, 1)), exceeded(Budget::Of(BudgetPeriod::Day), 1));
}

#[test]
fn policy_change_keeps_usage_and_reservations() {
    let policies = policies(r#"{"budget_daily_usd":1e-7,"rate_limits":[{"provider":"*","requests_per_minute":2}]}"#);
    let in_flight = admit(&policies, charge(0, 40)).unwrap();
    let spending = Spending { day: NanoUsd::new(30), ..Spending::default() };
    let changed = r#"{"budget_daily_usd":7e-8,"rate_limits":[{"provider":"*","requests_per_minute":5}]}"#;
    policies.put(&bot(), policy(changed), Some(&spending), at(1));
    assert_eq!(admit(&policies, charge(2, 1)).err(), Some(HELD));
    policies.settle(&bot(), Some(in_flight), &charge(0, 20));
    for millis in 3..7 {
        assert_eq!(spend(&policies, charge(millis, 1)), Ok(()));
    }
    assert_eq!(spend(&policies, charge(7, 1)), Err(Refused::RateLimited { retry_after_seconds: 60 }));
}

#[test]
fn a_change_of_days_or_budgets_leaves_nothing_reserved() {
    let check = |before: &str, meanwhile: &[&str]| {
        let policies = policies(before);
        // Two hours ago it was 19:00 in Tokyo, and 23:00 of the day before in Auckland.
        let in_flight = admit(&policies, charge(-2 * DAY / 24, 90)).unwrap();
        for json in meanwhile {
            policies.put(&bot(), policy(json), Some(&Spending::default()), at(1));
        }
        drop(in_flight);
        assert_eq!(spend(&policies, charge(2, 90)), Ok(()), "{before} {meanwhile:?}");
        let rest = admit(&policies, charge(3, 1));
        assert!(rest.is_ok(), "{before} {meanwhile:?}: {rest:?}");
    };
    let daily = |zone: &str| format!(r#"{{"budget_daily_usd":1e-7,"time_zone":"{zone}"}}"#);
    check(&daily("Asia/Tokyo"), &[&daily("Pacific/Auckland")]);
    check(&daily("Pacific/Auckland"), &[&daily("UTC")]);
    let conversation = r#"{"budget_conversation_usd":1e-7}"#;
    check(conversation, &["{}", conversation]);
    check("{}", &[conversation]);
}

#[test]
fn tokens_are_corrected_where_they_were_counted_though_the_call_had_to_wait() {
    let policies = policies(r#"{"rate_limits":[{"provider":"*","tokens_per_minute":1000}]}"#);
    let tokens = |millis: i64, tokens: u64| Charge { tokens, ..charge(millis, 0) };
    let waited = limits(&policies).admit(tokens(0, 600), at(5_000)).unwrap();
    policies.settle(&bot(), Some(waited), &tokens(0, 100));
    assert_eq!(spend(&policies, tokens(5_000, 900)), Ok(()), "of a thousand, a hundred are used");
}

#[test]
fn calls_that_ended_while_a_policy_was_made_are_counted_once() {
    let policies = policies(r#"{"budget_daily_usd":1e-7,"budget_conversation_usd":1}"#);
    assert_eq!(spend(&policies, charge(0, 30)), Ok(()));
    let conversations = vec![("c1".to_owned(), NanoUsd::new(70))];
    let spending =
        |day: i64| Spending { day: NanoUsd::new(day), conversations: conversations.clone(), ..Default::default() };
    policies.raise(&bot(), &spending(70), at(1));
    policies.raise(&bot(), &spending(20), at(1));
    assert_eq!(limits(&policies).spent(at(1))[0], NanoUsd::new(70));
    assert_eq!(spend(&policies, charge(2, 30)), Ok(()));
    assert_eq!(spend(&policies, charge(3, 1)), exceeded(Budget::Of(BudgetPeriod::Day), 100));
}

#[test]
fn an_agent_whose_policy_is_taken_away_has_the_default() {
    let spent = Spending { day: NanoUsd::new(100), ..Spending::default() };
    let free = policies(r#"{"budget_daily_usd":0}"#);
    free.reset(&bot(), Some(&spent), at(0));
    assert!(free.of(&bot(), at(0)).is_none(), "the default limits nothing");

    let limited = Policies::new(policy(r#"{"budget_daily_usd":1e-7}"#), 100);
    limited.put(&bot(), policy("{}"), None, at(0));
    assert_eq!(spend(&limited, charge(0, 99)), Ok(()));
    limited.reset(&bot(), None, at(0));
    assert!(!limits(&limited).is_own());
    assert_eq!(spend(&limited, charge(1, 1)), Ok(()), "what was spent stays spent");
    assert_eq!(spend(&limited, charge(2, 1)), exceeded(Budget::Of(BudgetPeriod::Day), 100));
    limited.reset(&bot(), Some(&Spending::default()), at(0));
    assert_eq!(spend(&limited, charge(3, 1)), Ok(()));
    assert_eq!(limited.all().len(), 1);
}

#[test]
fn a_call_counts_though_its_policy_came_while_it_was_in_flight() {
    let policies = Policies::new(Policy::default(), 100);
    let before = charge(0, 100);
    policies.put(&bot(), policy(r#"{"budget_daily_usd":1e-7}"#), None, at(1));
    policies.settle(&bot(), None, &before);
    assert_eq!(spend(&policies, charge(2, 1)), exceeded(Budget::Of(BudgetPeriod::Day), 100));
    // Taken away and given again: the call in flight was admitted by the one that is gone.
    policies.put(&bot(), policy("{}"), None, at(3));
    let reservation = admit(&policies, charge(4, 100)).unwrap();
    policies.forget(&bot());
    policies.put(&bot(), policy(r#"{"budget_daily_usd":1e-7}"#), None, at(5));
    policies.settle(&bot(), Some(reservation), &charge(4, 100));
    assert_eq!(spend(&policies, charge(6, 1)), exceeded(Budget::Of(BudgetPeriod::Day), 100));
}

#[test]
fn agents_without_their_own_have_the_default_and_are_bounded() {
    let policies = Policies::new(policy(r#"{"budget_daily_usd":1e-7}"#), 50);
    let agent = |number: usize| AgentId::parse(&format!("a{number}")).unwrap();
    for number in 0..500 {
        assert!(policies.of(&agent(number), at(0)).is_some());
    }
    let kept = (0..500).filter(|number| policies.counted(&agent(*number)).is_some()).count();
    assert!((40..=50).contains(&kept), "{kept}");
    policies.put(&agent(0), policy("{}"), None, at(0));
    assert!(policies.counted(&agent(0)).unwrap().is_own());
    let free = policies.of(&agent(0), at(0)).unwrap();
    assert!(free.admit(charge(0, 1_000), at(0)).is_ok() && free.policy().is_empty());
    policies.restore(&agent(499), &Spending { day: NanoUsd::new(100), ..Spending::default() }, at(0));
    let spent = policies.of(&agent(499), at(0)).unwrap().admit(charge(0, 1), at(0)).map(drop);
    assert_eq!(spent.map_err(|(refused, _)| why(refused)), exceeded(Budget::Of(BudgetPeriod::Day), 100));
}

#[test]
fn a_changed_default_holds_for_agents_without_their_own() {
    let policies = Policies::new(Policy::default(), 100);
    let own = AgentId::parse("own").unwrap();
    policies.put(&own, policy(r#"{"budget_daily_usd":5}"#), None, at(0));
    assert!(policies.of(&bot(), at(0)).is_none());
    policies.set_default(policy(r#"{"budget_daily_usd":1e-7}"#), at(0));
    assert_eq!(spend(&policies, charge(0, 100)), Ok(()));
    assert_eq!(spend(&policies, charge(1, 1)), exceeded(Budget::Of(BudgetPeriod::Day), 100));
    policies.set_default(policy(r#"{"budget_daily_usd":2e-7}"#), at(2));
    assert_eq!(spend(&policies, charge(2, 1)), Ok(()), "what was spent stays, the budget is larger");
    assert_eq!(limits(&policies).spent(at(2))[0], NanoUsd::new(101));
    policies.set_default(Policy::default(), at(3));
    assert!(policies.of(&bot(), at(3)).is_none());
    assert_eq!(*policies.policy(&own), policy(r#"{"budget_daily_usd":5}"#));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// However calls are interleaved, cancelled and settled: never more than the limit and one
    /// call, nothing stays reserved.
    #[test]
    fn a_budget_is_overshot_by_at_most_one_call(
        steps in prop::collection::vec((0_usize..8, 1_i64..100, 0_i64..100), 1..200), limit in 1_i64..1000
    ) {
        let policies = policies(&format!(r#"{{"budget_daily_usd":{limit}e-9,"budget_conversation_usd":{limit}e-9}}"#));
        let (mut in_flight, mut spent) = (Vec::new(), 0);
        let settle = |reservation: Reservation, part: i64| {
            let cost = reservation.charge().cost.nanos() * part / 100;
            policies.settle(&bot(), Some(reservation), &charge(0, cost));
            cost
        };
        for (what, most, part) in steps {
            match what {
                0..4 => in_flight.extend(admit(&policies, charge(0, most))),
                4..7 if !in_flight.is_empty() => spent += settle(in_flight.swap_remove(most as usize % in_flight.len()), part),
                _ => drop(in_flight.pop()),
            }
        }
        for reservation in in_flight {
            spent += settle(reservation, 100);
        }
        prop_assert!(spent < limit + 100, "{spent} of {limit}");
        prop_assert_eq!(limits(&policies).spent(at(0))[0], NanoUsd::new(spent));
        // Nothing is reserved any more: it passes unless all is spent.
        let refused = admit(&policies, charge(0, 1)).err();
        prop_assert_eq!(refused == Some(HELD), false);
        prop_assert_eq!(refused.is_some(), spent >= limit);
    }
}
