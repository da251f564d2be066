//! Every call makes one event, however it ends.

use model::{BlockReason, EventType, Outcome};

use crate::provider::{FakeProvider, LAST_CHUNK, Step, chat_answer, chat_stream, chunk, stream_head, whole};
use crate::test_proxy::{CHAT, PROMPT, TestProxy, collect, config, post, question, streamed_question};

#[tokio::test]
async fn call_is_recorded_with_every_known_field() {
    let provider = FakeProvider::sending(chat_answer("The import is repaired.")).await;
    let mut proxy = TestProxy::new(&provider).await;
    let response = proxy.ask(PROMPT).await;
    let event = proxy.event().await;
    assert_eq!(response.headers()["x-agentgazer-request-id"], event.id.to_string());
    assert_eq!(event.event_type, EventType::LlmCall);
    assert_eq!(event.agent.as_str(), "bot");
    assert_eq!(event.provider.as_deref(), Some("openai"));
    assert_eq!(event.model.as_deref(), Some("gpt-5-mini"));
    assert_eq!(event.status, Some(200));
    assert_eq!((event.usage.input, event.usage.output), (Some(11), Some(7)));
    assert!(event.latency_ms.is_some() && event.first_byte_ms.is_some() && event.conversation.is_some());
    assert!(!event.streamed);
    let fingerprint = event.fingerprint.unwrap();
    assert_eq!(fingerprint.outcome, Outcome::Answered);
    assert!(fingerprint.response.is_some());
}

#[tokio::test]
async fn answer_is_scored_before_the_next_call() {
    let provider = FakeProvider::sending(chat_answer("The import is repaired and it will run tonight.")).await;
    let proxy = TestProxy::new(&provider).await;
    let mut scores = Vec::new();
    for _ in 0..4 {
        scores.push(proxy.ask(PROMPT).await.headers()["x-agentgazer-loop-score"].to_str().unwrap().to_owned());
    }
    // One more similar prompt each time, and from the third call on one more similar answer.
    assert_eq!(scores, ["0.0/10.0", "1.0/10.0", "4.0/10.0", "7.0/10.0"]);
}

#[tokio::test]
async fn a_stream_counts_as_answered_with_its_terminal_event() {
    let provider = FakeProvider::new(|_| {
        let events = chunk(&chat_stream(&["done ", "and ", "dusted"]));
        vec![Step::Send(stream_head("text/event-stream")), Step::Send(events), Step::Hold]
    })
    .await;
    let mut proxy = TestProxy::new(&provider).await;
    // The client reads up to the terminal event and hangs up, as SDKs do.
    let response = proxy.begin(post(CHAT, streamed_question(PROMPT))).await;
    let mut body = response.into_body();
    let mut read = Vec::new();
    while !read.ends_with(b"data: [DONE]\n\n") {
        use http_body_util::BodyExt;
        read.extend(body.frame().await.unwrap().unwrap().into_data().unwrap());
    }
    drop(body);
    let event = proxy.event().await;
    assert_eq!((event.status, event.error), (Some(200), None));
    assert!(event.streamed);
    assert_eq!(event.fingerprint.unwrap().outcome, Outcome::Answered);
}

#[tokio::test]
async fn a_failed_call_has_no_response_hash() {
    let provider = FakeProvider::sending(whole("500 Oops", "application/json", r#"{"error":"no"}"#)).await;
    let mut proxy = TestProxy::new(&provider).await;
    assert_eq!(proxy.ask(PROMPT).await.status(), 500);
    let fingerprint = proxy.event().await.fingerprint.unwrap();
    assert_eq!((fingerprint.outcome, fingerprint.response), (Outcome::Failed, None));
}

#[tokio::test]
async fn other_endpoints_are_recorded_but_not_scored() {
    let provider = FakeProvider::sending(whole("200 OK", "application/json", r#"{"data":[]}"#)).await;
    let mut proxy = TestProxy::new(&provider).await;
    let response = proxy.call(post("/agents/bot/openai/v1/embeddings", r#"{"input":"x"}"#)).await;
    assert!(!response.headers().contains_key("x-agentgazer-loop-score"));
    let event = proxy.event().await;
    assert_eq!((event.status, event.score, event.error), (Some(200), None, None));
}

#[tokio::test]
async fn unreadable_body_is_forwarded_and_recorded_as_unread() {
    let mut provider = FakeProvider::sending(whole("200 OK", "application/json", "{}")).await;
    let mut proxy = TestProxy::new(&provider).await;
    let response = proxy.call(post(CHAT, "{\"messages\": [")).await;
    assert_eq!(response.status(), 200);
    assert_eq!(provider.received().await.body, b"{\"messages\": [");
    let event = proxy.event().await;
    assert!(event.error.unwrap().starts_with("unread: "));
    assert_eq!(event.score, None);
}

#[tokio::test]
async fn texts_from_outside_are_recorded_up_to_a_length() {
    let endless = "é".repeat(300_000);
    let check = async |asked: &str, answer: String, model: usize, error: Option<usize>| {
        let events = chunk(format!("data: {answer}\n\n").as_bytes());
        let mut provider =
            FakeProvider::sending([&stream_head("text/event-stream"), &*events, LAST_CHUNK].concat()).await;
        let mut proxy = TestProxy::new(&provider).await;
        let body = streamed_question(PROMPT).replace("\"gpt-5-mini\"", asked);
        proxy.call(post(CHAT, body.clone())).await;
        assert_eq!(provider.received().await.body, body.as_bytes());
        let event = proxy.event().await;
        assert_eq!(event.model.map(|name| name.chars().count()), Some(model));
        assert_eq!(event.error.map(|text| text.chars().count()), error);
    };
    check(&format!("\"{endless}\""), r#"{"choices":[]}"#.to_owned(), 200, None).await;
    check("null", format!(r#"{{"model":"{endless}","choices":[{{"delta":{{"content":"hi"}}}}]}}"#), 200, None).await;
    check("\"gpt\"", format!(r#"{{"error":{{"message":"{endless}"}}}}"#), 3, Some(300)).await;
}

#[tokio::test]
async fn a_client_that_hangs_up_while_it_waits_cancels_the_call() {
    let mut provider = FakeProvider::new(|_| vec![Step::Hold]).await;
    let mut proxy = TestProxy::new(&provider).await;
    let waiting = tokio::spawn(crate::test_proxy::begin(proxy.address, post(CHAT, question(PROMPT))));
    provider.received().await;
    waiting.abort();
    drop(waiting.await);
    provider.hung_up_on().await;
    let event = proxy.event().await;
    assert_eq!((event.status, event.error.as_deref()), (Some(499), Some("client went away")));
    assert_eq!(event.fingerprint.unwrap().outcome, Outcome::Failed);
}

#[tokio::test]
async fn a_client_that_hangs_up_inside_a_stream_cancels_the_call() {
    let mut provider = FakeProvider::new(|_| {
        let begun = chunk(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"on and on\"}}]}\n\n");
        vec![Step::Send(stream_head("text/event-stream")), Step::Send(begun), Step::Hold]
    })
    .await;
    let mut proxy = TestProxy::new(&provider).await;
    let response = proxy.begin(post(CHAT, streamed_question(PROMPT))).await;
    drop(response);
    provider.hung_up_on().await;
    let event = proxy.event().await;
    assert_eq!((event.status, event.error.as_deref()), (Some(200), Some("client went away")));
    let fingerprint = event.fingerprint.unwrap();
    assert_eq!((fingerprint.outcome, fingerprint.response), (Outcome::Failed, None));
}

#[tokio::test]
async fn parallel_calls_each_keep_their_own_answer() {
    let provider = FakeProvider::new(|received| {
        let text = String::from_utf8_lossy(&received.body).into_owned();
        let number = text.split("task number ").nth(1).unwrap().chars().take(2).collect::<String>();
        let events = chat_stream(&["the answer to ", &number]);
        vec![Step::Send(stream_head("text/event-stream")), Step::Send(chunk(&events)), Step::Send(LAST_CHUNK.into())]
    })
    .await;
    let mut proxy = TestProxy::with(&provider, config(), Default::default()).await;
    let asking = (10..60).map(|number| {
        let request = post(CHAT, streamed_question(&format!("task number {number} of many")));
        let address = proxy.address;
        tokio::spawn(async move { (number, collect(crate::test_proxy::begin(address, request).await).await) })
    });
    let asking: Vec<_> = asking.collect();
    for answer in asking {
        let (number, response) = answer.await.unwrap();
        assert!(String::from_utf8_lossy(response.body()).contains(&format!("\"{number}\"")));
    }
    for _ in 10..60 {
        assert_eq!(proxy.event().await.block_reason, None::<BlockReason>);
    }
}
