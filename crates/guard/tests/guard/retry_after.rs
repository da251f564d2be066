//! What a refused call is told about when to come back holds: then it is not refused for the same
//! reason, whatever the calls that are in flight come to.

use guard::{Budget, Charge, Policies, Refused, Reservation, conversation_id};
use model::{BudgetPeriod, NanoUsd};
use proptest::prelude::*;

use crate::policies::{at, bot, charge, limits, policies};

const HOUR: i64 = 3_600_000;

/// What happens after a pause: a call of so many tokens comes and may become so many, or one in
/// flight is over.
#[derive(Clone, Debug)]
struct Step {
    pause: i64,
    provider: usize,
    tokens: u64,
    at_most: u64,
    ends: bool,
}

fn any_step() -> impl Strategy<Value = Step> {
    let parts = (0_i64..9_000, 0_usize..2, 0_u64..400, 0_u64..900, any::<bool>());
    parts.prop_map(|(pause, provider, tokens, more, ends)| Step {
        pause,
        provider,
        tokens,
        at_most: tokens + more,
        ends,
    })
}

fn call(step: &Step, millis: i64) -> Charge {
    let provider = ["openai", "anthropic"][step.provider].to_owned();
    Charge { provider, tokens: step.tokens, tokens_at_most: step.at_most, ..charge(millis, 1) }
}

/// Ends a call with a part of what it may come to.
fn end(policies: &Policies, reservation: Reservation, percent: u64) {
    let reserved = reservation.charge().clone();
    let tokens = reserved.tokens_at_most * percent / 100;
    let cost = NanoUsd::new(reserved.cost.nanos() * percent.cast_signed() / 100);
    policies.settle(&bot(), Some(reservation), &Charge { cost, tokens, tokens_at_most: tokens, ..reserved });
}

fn seconds(refused: Refused) -> Option<u64> {
    match refused {
        Refused::RateLimited { retry_after_seconds } => Some(retry_after_seconds),
        Refused::BudgetExceeded { renewed_in_seconds, .. } | Refused::BudgetHeld { renewed_in_seconds } => {
            renewed_in_seconds
        }
        Refused::OutsideHours => None,
    }
}

fn after(now: i64, refused: Refused) -> i64 {
    now + i64::try_from(seconds(refused).unwrap()).unwrap() * 1000
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn after_a_rate_limit_the_call_passes(
        steps in prop::collection::vec(any_step(), 1..60), last in any_step(), percent in 0_u64..=100
    ) {
        let policies = policies(
            r#"{"rate_limits":[{"provider":"*","requests_per_minute":9,"tokens_per_minute":1500},
                {"provider":"openai","requests_per_minute":4,"tokens_per_minute":900}]}"#,
        );
        let (mut in_flight, mut now) = (Vec::new(), 0);
        for step in &steps {
            now += step.pause;
            match if step.ends { in_flight.pop() } else { None } {
                Some(reservation) => end(&policies, reservation, step.tokens % 101),
                None => in_flight.extend(limits(&policies).admit(call(step, now), at(now))),
            }
        }
        let refused = match limits(&policies).admit(call(&last, now), at(now)) {
            Ok(_) => return Ok(()),
            Err((refused, _)) => refused,
        };
        let is_exact = in_flight.is_empty();
        for reservation in in_flight {
            end(&policies, reservation, percent);
        }
        let then = after(now, refused);
        if is_exact {
            let sooner = limits(&policies).admit(call(&last, now), at(then - 1000));
            prop_assert!(sooner.is_err(), "it was told to wait longer than it has to");
        }
        let again = limits(&policies).admit(call(&last, now), at(then));
        prop_assert!(again.is_ok(), "told {:?}, then {:?}", refused, again.err());
    }

    #[test]
    fn budget_is_open_after_its_retry_time(
        budgets in prop::array::uniform3(prop::option::of(0_i64..300)), hours in prop::collection::vec(0_i64..400, 1..20),
        percent in 0_u64..=100
    ) {
        let dollars = |nanos: Option<i64>| nanos.map_or("null".to_owned(), |nanos| format!("{nanos}e-9"));
        let [day, week, month] = budgets.map(dollars);
        let policies = policies(&format!(
            r#"{{"budget_daily_usd":{day},"budget_weekly_usd":{week},"budget_monthly_usd":{month},"time_zone":"Europe/Berlin"}}"#
        ));
        let (mut in_flight, mut now) = (Vec::new(), 0);
        for (number, pause) in hours.into_iter().enumerate() {
            now += pause * HOUR / 7;
            let refused = match limits(&policies).admit(charge(now, 90), at(now)) {
                Ok(reservation) if number % 2 == 0 => { in_flight.push(reservation); continue }
                Ok(reservation) => { end(&policies, reservation, percent); continue }
                Err((refused, _)) => refused,
            };
            prop_assert_eq!(seconds(refused).is_none(), budgets.contains(&Some(0)), "{:?}", refused);
            if seconds(refused).is_some() {
                now = after(now, refused);
                let again = limits(&policies).admit(charge(now, 90), at(now)).map(drop).map_err(|(refused, _)| refused);
                prop_assert!(!same_reason(refused, again), "told {:?}, then {:?}", refused, again);
            }
        }
    }
}

fn same_reason(refused: Refused, again: Result<(), Refused>) -> bool {
    again.is_err_and(|again| std::mem::discriminant(&again) == std::mem::discriminant(&refused))
}

#[test]
fn a_budget_says_when_it_begins_anew() {
    let check = |json: &str, calls: &[i64], expected: Option<(Budget, Option<u64>)>| {
        let policies = policies(json);
        for nanos in calls {
            let reservation = limits(&policies).admit(charge(0, *nanos), at(0)).unwrap();
            end(&policies, reservation, 100);
        }
        let refused = limits(&policies).admit(charge(500, 1), at(500)).err().map(|(refused, _)| refused);
        let told = refused.map(|refused| match refused {
            Refused::BudgetExceeded { budget, renewed_in_seconds, .. } => (budget, renewed_in_seconds),
            other => panic!("{other:?}"),
        });
        assert_eq!(told, expected, "{json}");
    };
    // It is noon on a Sunday in UTC, half a second past.
    let (day, month) = (Budget::Of(BudgetPeriod::Day), Budget::Of(BudgetPeriod::Month));
    let (midnight, december) = (12 * 3600, 12 * 3600 + 15 * 86_400);
    check(r#"{"budget_daily_usd":1e-7}"#, &[99], None);
    check(r#"{"budget_daily_usd":1e-7}"#, &[100], Some((day, Some(midnight))));
    check(r#"{"budget_daily_usd":1e-7,"budget_monthly_usd":1e-7}"#, &[100], Some((month, Some(december))));
    check(r#"{"budget_monthly_usd":1e-7,"budget_conversation_usd":1e-7}"#, &[100], Some((Budget::Conversation, None)));
    check(r#"{"budget_daily_usd":0}"#, &[], Some((day, None)));
}

#[test]
fn a_budget_that_is_held_says_when_it_is_open_at_the_latest() {
    let held = |json: &str| {
        let policies = policies(json);
        let _in_flight = limits(&policies).admit(charge(0, 100), at(0)).unwrap();
        let other = Charge { conversation: Some(conversation_id("c2")), ..charge(0, 1) };
        [charge(0, 1), other].map(|charge| limits(&policies).admit(charge, at(0)).err().map(|(refused, _)| refused))
    };
    let until = |renewed_in_seconds| Some(Refused::BudgetHeld { renewed_in_seconds });
    assert_eq!(held(r#"{"budget_daily_usd":1e-7}"#), [until(Some(43_200)); 2]);
    assert_eq!(held(r#"{"budget_conversation_usd":1e-7}"#), [until(None), None]);
}
