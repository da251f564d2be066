use super::*;
use crate::{AlertTransition, CallFigures, Calls, Transition};
use model::{AlertData, RecoveredData, RuleType, SilenceData};

fn silence() -> AlertData {
    AlertData::Silence(SilenceData { agent_id: id("quiet"), last_seen: Some(NOON), minutes: 5 })
}

fn recovered() -> AlertData {
    let data = RecoveredData { agent_id: id("quiet"), rule_type: RuleType::AgentDown, since: NOON, incident_id: None };
    AlertData::Recovered(data)
}

#[tokio::test]
async fn alert_state_notifies_once_when_it_begins_lasts_and_ends() {
    let mut fixture = Fixture::new().await;
    fixture.channel("ops").await;
    let rule = fixture.rule(rule("*", Condition::AgentDown { minutes: 5 }, &[])).await;
    let transitions = [
        Transition::Ends(Some(recovered())),
        Transition::Lasts(silence()),
        Transition::Begins(silence()),
        Transition::Begins(silence()),
        Transition::Lasts(silence()),
        Transition::Ends(Some(recovered())),
        Transition::Ends(Some(recovered())),
        Transition::Begins(silence()),
        Transition::Ends(None),
    ];
    for (minute, transition) in (0..).zip(transitions) {
        let transitions = vec![AlertTransition { rule, agent: id("quiet"), transition }];
        fixture.alerts(AlertChange::Transitions { transitions, at: after(minute * 120) }).await.unwrap();
        fixture = fixture.restart().await;
    }
    let told: Vec<_> = fixture.sent_alerts().await.into_iter().map(|(_, kind)| kind).collect();
    assert_eq!(told, ["agent.down", "agent.down", "agent.recovered", "agent.down"]);
    let states = fixture.store.alert_states().await.unwrap();
    assert_eq!((states.len(), states[0].firing, states[0].since), (1, false, after(8 * 120)));
}

#[tokio::test]
async fn deleted_or_disabled_rule_does_not_alert() {
    let fixture = Fixture::new().await;
    fixture.channel("ops").await;
    let off = AlertRule { enabled: false, ..rule("*", Condition::AgentDown { minutes: 5 }, &[]) };
    let off = fixture.rule(off).await;
    let transition = |rule| AlertTransition { rule, agent: id("quiet"), transition: Transition::Begins(silence()) };
    let transitions = vec![transition(off), transition(RuleId::new())];
    fixture.alerts(AlertChange::Transitions { transitions, at: NOON }).await.unwrap();
    assert_eq!(fixture.sent_alerts().await, []);
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
    let mut slow = at(-900, 504);
    slow.latency_ms = Some(600_000);
    fixture.record_all(vec![at(0, 200), at(1, 500), refused, at(-600, 200), at(-120, 429), slow]).await;
    fixture.record(at(2, 200)).await;
    let fixture = fixture.restart().await;
    // The span with the current minute and one more, up to its beginning, and with it.
    for (minutes, all, before, latest) in [
        (1, (3, 1), (0, 0), (3, 1)),
        (2, (4, 2), (1, 1), (3, 1)),
        (4, (4, 2), (1, 1), (4, 2)),
        (5, (5, 3), (2, 2), (4, 2)),
        (6, (5, 3), (2, 2), (5, 3)),
        (15, (6, 3), (3, 2), (6, 3)),
    ] {
        let [all, before, latest] = [all, before, latest].map(|(calls, errors)| Calls { calls, errors });
        let expected = CallFigures { agent: id("busy"), all, before, latest };
        assert_eq!(fixture.store.call_figures(minutes, NOON).await.unwrap(), [expected], "{minutes}");
    }
    assert_eq!(fixture.store.call_figures(15, after(-3600)).await.unwrap(), []);
}
