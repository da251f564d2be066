use super::*;
use crate::{AlertTurn, CallFigures, Turn};
use model::{AlertData, RecoveredData, RuleType, SilenceData};

fn silence() -> AlertData {
    AlertData::Silence(SilenceData { agent_id: id("quiet"), last_seen: Some(NOON), minutes: 5 })
}

fn recovered() -> AlertData {
    let data = RecoveredData { agent_id: id("quiet"), rule_type: RuleType::AgentDown, since: NOON, incident_id: None };
    AlertData::Recovered(data)
}

#[tokio::test]
async fn a_state_is_told_when_it_begins_lasts_and_ends_and_never_twice() {
    let mut fixture = Fixture::new().await;
    fixture.channel("ops").await;
    let rule = fixture.rule(rule("*", Condition::AgentDown { minutes: 5 }, &[])).await;
    let turns = [
        Turn::Ends(Some(recovered())),
        Turn::Lasts(silence()),
        Turn::Begins(silence()),
        Turn::Begins(silence()),
        Turn::Lasts(silence()),
        Turn::Ends(Some(recovered())),
        Turn::Ends(Some(recovered())),
        Turn::Begins(silence()),
        Turn::Ends(None),
    ];
    for (minute, turn) in (0..).zip(turns) {
        let turns = vec![AlertTurn { rule, agent: id("quiet"), turn }];
        fixture.alerts(AlertChange::Turns { turns, at: after(minute * 120) }).await.unwrap();
        fixture = fixture.restart().await;
    }
    let told: Vec<_> = fixture.told().await.into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(told, ["agent.down", "agent.down", "agent.recovered", "agent.down"]);
    let states = fixture.store.alert_states().await.unwrap();
    assert_eq!((states.len(), states[0].firing, states[0].since), (1, false, after(8 * 120)));
}

#[tokio::test]
async fn a_rule_that_is_gone_or_off_says_nothing() {
    let fixture = Fixture::new().await;
    fixture.channel("ops").await;
    let off = AlertRule { enabled: false, ..rule("*", Condition::AgentDown { minutes: 5 }, &[]) };
    let off = fixture.rule(off).await;
    let turn = |rule| AlertTurn { rule, agent: id("quiet"), turn: Turn::Begins(silence()) };
    let turns = vec![turn(off), turn(RuleId::new())];
    fixture.alerts(AlertChange::Turns { turns, at: NOON }).await.unwrap();
    assert_eq!(fixture.told().await, []);
}

#[tokio::test]
async fn calls_are_counted_by_the_minute() {
    let fixture = Fixture::new().await;
    let at = |seconds: i64, status: u16| {
        let mut event = call("busy");
        event.time = after(seconds);
        event.status = Some(status);
        event
    };
    let mut refused = at(0, 400);
    refused.event_type = EventType::Blocked;
    fixture.record_all(vec![at(0, 200), at(1, 500), refused, at(-600, 200), at(-120, 429)]).await;
    fixture.record(at(2, 200)).await;
    let figures = |calls, errors| vec![CallFigures { agent: id("busy"), calls, errors }];
    let fixture = fixture.restart().await;
    assert_eq!(fixture.store.call_figures(1, NOON).await.unwrap(), figures(3, 1));
    assert_eq!(fixture.store.call_figures(5, NOON).await.unwrap(), figures(4, 2));
    assert_eq!(fixture.store.call_figures(15, NOON).await.unwrap(), figures(5, 2));
    assert_eq!(fixture.store.call_figures(15, after(-3600)).await.unwrap(), []);
}
