//! Calls that were not scored, counted by reason.

use model::{Unread, Unscored};

use super::*;
use crate::Period;

const HOUR_MS: i64 = 60 * 60 * 1000;

fn unscored(agent: &str, hours_ago: i64, reason: Option<Unscored>) -> Event {
    let time = Timestamp::from_millis(NOON.as_millis() - hours_ago * HOUR_MS);
    Event { time, unscored: reason, ..call(agent) }
}

#[tokio::test]
async fn unscored_calls_are_counted_by_agent_reason_and_period() {
    let fixture = Fixture::new().await;
    let (none, deep) = (Some(Unscored::NoConversation), Some(Unscored::Unread(Unread::TooDeep)));
    let events =
        [("ann", 0, none), ("ann", 1, deep), ("ann", 1, deep), ("ann", 40, deep), ("ann", 0, None), ("ben", 0, none)];
    fixture.record_all(events.map(|(agent, ago, reason)| unscored(agent, ago, reason)).to_vec()).await;
    let count =
        async |agent: &str, hours| fixture.store.unscored(&id(agent), Period::last_hours(hours, NOON)).await.unwrap();
    let (none, deep) = (Unscored::NoConversation, Unscored::Unread(Unread::TooDeep));
    assert_eq!(count("ann", 24).await, [(deep, 2), (none, 1)]);
    assert_eq!(count("ann", 48).await, [(deep, 3), (none, 1)]);
    assert_eq!(count("ben", 24).await, [(none, 1)]);
    assert_eq!(count("eve", 24).await, []);
}

#[tokio::test]
async fn a_refused_call_is_not_counted_as_unscored() {
    let fixture = Fixture::new().await;
    let mut event = unscored("ann", 0, Some(Unscored::NoConversation));
    event.event_type = EventType::Blocked;
    event.block_reason = Some(model::BlockReason::LoopDetected);
    fixture.record_all(vec![event]).await;
    assert_eq!(fixture.store.unscored(&id("ann"), Period::last_hours(24, NOON)).await.unwrap(), []);
}
