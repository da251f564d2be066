//! What the search shows of requests.

use model::{AgentId, BlockReason, CallId, Epoch, Event, EventType, Timestamp};

use super::Browser;
use crate::server::Server;

#[tokio::test]
async fn storm_of_refusals_is_one_row() {
    let server = Server::start().await;
    let now = server.web.clock.now();
    let mut notices = server.web.recorder.subscribe();
    for minute in 0..12 {
        let at = Timestamp::from_millis(now.as_millis() - minute * 60_000);
        let agent = AgentId::parse("stormy").unwrap();
        let mut event = Event::new(CallId::new(), agent, Epoch::default(), EventType::Blocked, at);
        event.block_reason = Some(BlockReason::Inactive);
        server.web.recorder_handle.event(event);
        notices.recv().await.unwrap();
    }
    let page = Browser::new(&server).await.page("/search?text=stormy").await;
    assert_eq!(page.matches("stormy: Refused").count(), 1, "{page}");
    assert!(page.contains("agent inactive, 12 calls"), "{page}");
}
