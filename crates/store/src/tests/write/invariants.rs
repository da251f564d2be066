//! Kills, activations, deactivations, settings and restarts in any order, against a model of a few
//! lines.

use super::*;
use model::DeactivatedBy;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Act {
    Kill(u64),
    Activate(u64),
    Deactivate,
    Configure(u16),
    Call,
    Restart,
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (0_u64..4).prop_map(Act::Kill),
        3 => (0_u64..4).prop_map(Act::Activate),
        1 => Just(Act::Deactivate),
        1 => (2_u16..9).prop_map(Act::Configure),
        1 => Just(Act::Call),
        1 => Just(Act::Restart),
    ]
}

#[derive(Debug, Default, PartialEq)]
struct Model {
    known: bool,
    deactivated_by: Option<DeactivatedBy>,
    epoch: u64,
    window_size: u16,
    kills: i64,
    open: i64,
    floor: u64,
}

impl Model {
    /// What the store must answer to a change, and what changes.
    fn apply(&mut self, step: &Act) -> Option<Result<Changed, &'static str>> {
        let new = !self.known;
        match *step {
            Act::Kill(epoch) => {
                if new {
                    *self = Model { known: true, epoch, window_size: 20, ..Model::default() };
                }
                if self.deactivated_by.is_none() && self.epoch == epoch {
                    self.deactivated_by = Some(DeactivatedBy::KillSwitch);
                    self.kills += 1;
                    self.open += 1;
                }
                None
            }
            Act::Activate(_) | Act::Deactivate if new => Some(Err("not found")),
            Act::Activate(epoch) if self.deactivated_by.is_some() && self.epoch == epoch => {
                *self = Model { deactivated_by: None, epoch: epoch + 1, open: 0, floor: 0, ..std::mem::take(self) };
                Some(Ok(Changed::Activated(Epoch(epoch + 1))))
            }
            Act::Activate(_) => Some(Err("conflict")),
            Act::Deactivate => {
                self.deactivated_by = self.deactivated_by.or(Some(DeactivatedBy::Manual));
                Some(Ok(Changed::Done))
            }
            Act::Configure(size) => {
                *self = Model { known: true, window_size: size, floor: u64::from(size), ..std::mem::take(self) };
                Some(Ok(Changed::Done))
            }
            Act::Call if new => {
                *self = Model { known: true, window_size: 20, ..Model::default() };
                None
            }
            Act::Call | Act::Restart => None,
        }
    }
}

async fn run(fixture: Fixture, step: &Act) -> (Fixture, Option<Result<Changed, &'static str>>) {
    let agent = id("agent");
    let change = match *step {
        Act::Kill(epoch) => {
            fixture.kill("agent", epoch).await;
            return (fixture, None);
        }
        Act::Call => {
            fixture.record(call("agent")).await;
            return (fixture, None);
        }
        Act::Restart => return (fixture.restart().await, None),
        Act::Activate(epoch) => Change::Activate { agent, epoch: Epoch(epoch), by: ActivatedBy::Api, at: NOON },
        Act::Deactivate => Change::Deactivate { agent, at: NOON },
        Act::Configure(window_size) => {
            let kill_switch = KillSwitch { window_size, ..KillSwitch::default() };
            Change::Configure { agent, kill_switch, window_floor: u64::from(window_size), at: NOON }
        }
    };
    let answer = fixture.change(change).await.map_err(|error| match error {
        StoreError::NotFound => "not found",
        StoreError::Conflict(_) => "conflict",
        other => panic!("{other}"),
    });
    (fixture, Some(answer))
}

async fn stored(fixture: &Fixture) -> Model {
    let saved = fixture.store.saved_agents(KillSwitch::default(), 1).await.unwrap();
    let Some(saved) = saved.first() else { return Model::default() };
    Model {
        known: true,
        deactivated_by: saved.deactivation.map(|deactivation| deactivation.by),
        epoch: saved.epoch.0,
        window_size: saved.kill_switch.window_size,
        kills: fixture.count("select count(*) from incidents").await,
        open: fixture.count("select count(*) from incidents where state = 'open'").await,
        floor: saved.window_floor,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_order_of_kills_changes_and_restarts_matches_the_model(steps in prop::collection::vec(any_act(), 1..16)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut fixture, mut model) = (Fixture::new().await, Model::default());
            for step in &steps {
                let answer;
                (fixture, answer) = run(fixture, step).await;
                assert_eq!(answer, model.apply(step), "{step:?} of {steps:?}");
                assert_eq!(stored(&fixture).await, model, "after {step:?} of {steps:?}");
            }
        });
    }
}
