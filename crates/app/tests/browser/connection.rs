//! A page whose server is gone says so where the headline is.

use crate::driver::{Browser, Kind};
use crate::support::{ServerBuilder, provider};

#[tokio::test]
async fn page_says_at_the_top_that_the_server_is_gone() {
    let upstream = provider().await;
    let server = ServerBuilder::new(&upstream.url()).start();
    let browser = Browser::logged_in(&server, Kind::PHONE).await;
    browser.wait_for_text("#connection", "Live").await;
    assert_eq!(browser.run("return document.getElementById('lost').hidden").await, true);

    drop(server);
    browser.wait_for_text("#lost", "No connection to the server since").await;
    let is_seen = "const box = document.getElementById('lost').getBoundingClientRect();\
        return box.height > 0 && box.bottom < innerHeight && box.top <= document.querySelector('h1').getBoundingClientRect().top";
    assert_eq!(browser.run(is_seen).await, true);
}
