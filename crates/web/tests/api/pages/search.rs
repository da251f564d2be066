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

#[tokio::test]
async fn incidents_are_found_by_part_of_a_name() {
    let server = Server::start().await;
    for agent in ["import-fixer", "page-crawler"] {
        server.kill(agent).await;
    }
    let browser = Browser::new(&server).await;
    let page = browser.page("/incidents?text=port-fix").await;
    assert_eq!(page.matches("<tr data-key=").count(), 1, "{page}");
    assert!(page.contains(">import-fixer<") && page.contains("value=\"port-fix\""), "{page}");
    assert!(browser.page("/incidents?text=nobody+at+all").await.contains("No incident matches."));
    for number in 0..9 {
        server.kill(&format!("import-{number}")).await;
    }
    assert!(browser.page("/search?text=import").await.contains("href=\"/incidents?text=import\">Show all"));
}

#[tokio::test]
async fn slow_requests_are_left_with_one_choice() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    let shows_slow =
        async |query: &str| browser.page(&format!("/requests?{query}")).await.contains("value=\"slow\" selected");
    assert!(shows_slow("show=slow").await && shows_slow("slow=30").await && shows_slow("show=slow&slow=30").await);
    // What the form sends once “All requests” is chosen.
    assert!(!shows_slow("show=all&slow=30").await && !shows_slow("show=all&slow=").await);
    let page = browser.page("/requests?show=slow").await;
    assert!(page.contains("<option value=\"all\">All requests"), "{page}");
    assert!(browser.page("/requests?show=all").await.contains("How to begin"), "nothing is filtered");
}
