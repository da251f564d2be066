//! Recorded costs of calls.

use std::time::Duration;

use model::{Format, NanoUsd, Provider};
use proxy::ProxyConfig;

use crate::provider::{FakeProvider, LAST_CHUNK, Step, chat_answer, chat_stream, chunk, stream_head, whole};
use crate::test_proxy::{CHAT, PROMPT, TestProxy, post, question, streamed_question};

#[tokio::test]
async fn a_call_costs_what_its_tokens_cost() {
    let provider = FakeProvider::sending(chat_answer("The import is repaired.")).await;
    let mut proxy = TestProxy::new(&provider).await;
    proxy.ask(PROMPT).await;
    let event = proxy.event().await;
    // gpt-5-mini: 11 tokens at 0.25 and 7 at 2 dollars per million.
    assert_eq!((event.cost, event.estimated), (Some(NanoUsd::new(11 * 250 + 7 * 2000)), false));
}

#[tokio::test]
async fn embeddings_cost_what_their_answer_says_and_are_not_scored() {
    let answer = r#"{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.25,-1e-3]}],
        "model":"text-embedding-3-small","usage":{"prompt_tokens":1000,"total_tokens":1000}}"#;
    let check = async |steps: Vec<Step>, input: Option<u64>, nanos: Option<i64>| {
        let provider = FakeProvider::new(move |_| steps.clone()).await;
        let mut proxy = TestProxy::new(&provider).await;
        let request = post("/agents/bot/openai/v1/embeddings", r#"{"model":"text-embedding-3-small","input":"hello"}"#);
        crate::test_proxy::read_until_end(proxy.begin(request).await.into_body()).await;
        let event = proxy.event().await;
        assert_eq!((event.usage.input, event.usage.output, event.estimated), (input, None, false));
        assert_eq!(event.cost, nanos.map(NanoUsd::new));
        assert_eq!((event.score, event.fingerprint, event.conversation), (None, None, None));
        event.model
    };
    let whole = whole("200 OK", "application/json", answer);
    // 1000 tokens at 0.02 dollars per million.
    let model = check(vec![Step::Send(whole.clone())], Some(1000), Some(20_000)).await;
    assert_eq!(model.as_deref(), Some("text-embedding-3-small"));
    let half = whole[..whole.len() - 60].to_vec();
    check(vec![Step::Send(half), Step::Close], None, None).await;
}

#[tokio::test]
async fn an_unknown_model_is_unpriced_and_not_free() {
    let answer = r#"{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":5,"completion_tokens":3}}"#;
    let provider = FakeProvider::sending(whole("200 OK", "application/json", answer)).await;
    let mut proxy = TestProxy::new(&provider).await;
    proxy.call(post(CHAT, question(PROMPT).replace("gpt-5-mini", "gpt-99"))).await;
    let event = proxy.event().await;
    assert_eq!((event.usage.input, event.cost, event.estimated), (Some(5), None, false));
}

#[tokio::test]
async fn a_failed_call_costs_nothing() {
    let provider = FakeProvider::sending(whole("500 Oops", "application/json", r#"{"error":"no"}"#)).await;
    let mut proxy = TestProxy::new(&provider).await;
    proxy.ask(PROMPT).await;
    let event = proxy.event().await;
    assert_eq!((event.usage, event.cost, event.estimated), (Default::default(), None, false));
}

#[tokio::test]
async fn a_stream_that_does_not_report_tokens_is_estimated() {
    let provider = FakeProvider::new(|_| {
        let events = chunk(&chat_stream(&["eight by", "tes or m", "ore"]));
        vec![Step::Send(stream_head("text/event-stream")), Step::Send(events), Step::Send(LAST_CHUNK.into())]
    })
    .await;
    let mut proxy = TestProxy::new(&provider).await;
    let body = streamed_question(PROMPT);
    let asked = body.len().div_ceil(4) as u64;
    proxy.call(post(CHAT, body)).await;
    let event = proxy.event().await;
    assert_eq!((event.usage.input, event.usage.output, event.estimated), (Some(asked), Some(5), true));
    assert_eq!(event.cost, Some(NanoUsd::new(asked as i64 * 250 + 5 * 2000)));
}

#[tokio::test]
async fn a_cut_stream_is_charged_by_what_arrived() {
    let provider = FakeProvider::new(|_| {
        let begun = chunk(b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"twelve bytes\"}}]}\n\n");
        vec![Step::Send(stream_head("text/event-stream")), Step::Send(begun), Step::Close]
    })
    .await;
    let mut proxy = TestProxy::new(&provider).await;
    proxy.call(post(CHAT, streamed_question(PROMPT))).await;
    let event = proxy.event().await;
    assert_eq!((event.usage.output, event.estimated, event.cost.is_some()), (Some(3), true, true));
}

#[tokio::test]
async fn a_stream_cut_before_its_first_event_is_charged_for_what_was_sent() {
    let check = async |path: &str, body: String, begun: &'static [u8], end: Step| {
        let is_left = matches!(end, Step::Hold);
        let steps = vec![Step::Send([stream_head("text/event-stream"), chunk(begun)].concat()), end];
        let provider = FakeProvider::new(move |_| steps.clone()).await;
        let mut proxy = TestProxy::new(&provider).await;
        let asked = body.len().div_ceil(4) as u64;
        let answer = proxy.begin(post(path, body)).await;
        match is_left {
            true => drop(answer),
            false => drop(crate::test_proxy::read_until_end(answer.into_body()).await),
        }
        let event = proxy.event().await;
        assert_eq!(event.status, Some(200), "{path}");
        assert_eq!((event.usage.input, event.usage.output, event.estimated), (Some(asked), Some(0), true), "{path}");
        assert!(event.cost.is_some_and(|cost| cost > NanoUsd::ZERO), "{path}");
    };
    let messages = r#"{"model":"claude-sonnet-4-5","stream":true,"messages":[{"role":"user","content":"go"}]}"#;
    let responses = r#"{"model":"gpt-5-mini","stream":true,"input":"go"}"#;
    let gemini = r#"{"contents":[{"role":"user","parts":[{"text":"go"}]}]}"#;
    for (path, body) in [
        (CHAT, streamed_question(PROMPT)),
        ("/agents/bot/anthropic/v1/messages", messages.to_owned()),
        ("/agents/bot/openai/v1/responses", responses.to_owned()),
        ("/agents/bot/google/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", gemini.to_owned()),
    ] {
        for begun in [&b": hello\n\n"[..], b"event: message_start\ndata: {\"type\":\"message_sta", b"data: {\"cho"] {
            check(path, body.clone(), begun, Step::Close).await;
            check(path, body.clone(), begun, Step::Hold).await;
        }
    }
}

#[tokio::test]
async fn abandoned_call_is_charged_for_its_request() {
    let mut provider = FakeProvider::new(|_| vec![Step::Hold]).await;
    let mut proxy = TestProxy::new(&provider).await;
    let asked = question(PROMPT).len().div_ceil(4) as u64;
    let waiting = tokio::spawn(crate::test_proxy::begin(proxy.address, post(CHAT, question(PROMPT))));
    provider.received().await;
    waiting.abort();
    let event = proxy.event().await;
    assert_eq!((event.status, event.usage.input, event.usage.output), (Some(499), Some(asked), Some(0)));
    assert_eq!((event.estimated, event.cost), (true, Some(NanoUsd::new(asked as i64 * 250))));

    let config = ProxyConfig { first_byte_timeout: Duration::from_millis(50), ..crate::test_proxy::config() };
    let mut proxy = TestProxy::with(&provider, config, Default::default()).await;
    assert_eq!(proxy.ask(PROMPT).await.status(), 504);
    let event = proxy.event().await;
    assert_eq!((event.usage.input, event.estimated), (Some(asked), true), "the provider works on it all the same");

    // Embeddings cost what their answer says.
    let waiting = post("/agents/bot/openai/v1/embeddings", r#"{"model":"text-embedding-3-small","input":"hello"}"#);
    let waiting = tokio::spawn(crate::test_proxy::begin(proxy.address, waiting));
    provider.received().await;
    provider.received().await;
    waiting.abort();
    let event = proxy.event().await;
    assert_eq!((event.usage, event.cost, event.estimated), (Default::default(), None, false));
}

#[tokio::test]
async fn a_call_that_never_reaches_its_provider_costs_nothing() {
    let provider = FakeProvider::sending(Vec::new()).await;
    let mut proxy = TestProxy::new(&provider).await;
    proxy.providers.put(Provider::new("openai", "http://127.0.0.1:1", Format::Openai).unwrap());
    assert_eq!(proxy.ask(PROMPT).await.status(), 502);
    let event = proxy.event().await;
    assert_eq!((event.usage, event.cost, event.estimated), (Default::default(), None, false));
}

#[tokio::test]
async fn an_error_in_the_place_of_an_answer_costs_nothing() {
    let error =
        b"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"No\"}}\n\n";
    let provider =
        FakeProvider::sending([&stream_head("text/event-stream"), &*chunk(error), LAST_CHUNK].concat()).await;
    let mut proxy = TestProxy::new(&provider).await;
    let body = r#"{"model":"claude-sonnet-4-5","stream":true,"messages":[{"role":"user","content":"go"}]}"#;
    proxy.call(post("/agents/bot/anthropic/v1/messages", body)).await;
    let event = proxy.event().await;
    assert_eq!((event.usage, event.cost, event.estimated), (Default::default(), None, false));
}

#[tokio::test]
async fn a_cut_body_is_charged_by_what_arrived() {
    let check = async |head: &'static str, body: &'static str, output: Option<u64>| {
        let head = format!("HTTP/1.1 {head}\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{body}");
        let provider = FakeProvider::new(move |_| vec![Step::Send(head.clone().into_bytes()), Step::Close]).await;
        let mut proxy = TestProxy::new(&provider).await;
        let asked = question(PROMPT);
        let sent = asked.len().div_ceil(4) as u64;
        crate::test_proxy::read_until_end(proxy.begin(post(CHAT, asked)).await.into_body()).await;
        let event = proxy.event().await;
        assert_eq!((event.usage.output, event.estimated), (output, output.is_some()), "{body}");
        let cost = output.map(|output| NanoUsd::new(sent as i64 * 250 + output as i64 * 2000));
        assert_eq!(event.cost, cost, "{body}");
    };
    // 38 bytes, not counting the quotes.
    check("200 OK", r#"{"choices":[{"message":{"content":"Half of it"#, Some(10)).await;
    check("500 Oops", r#"{"error":{"message":"Half"#, None).await;
}

#[tokio::test]
async fn a_cut_stream_of_anthropic_keeps_the_input_that_was_reported() {
    let provider = FakeProvider::new(|_| {
        let begun = concat!(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-sonnet-4-5\",\"content\":[],",
            "\"usage\":{\"input_tokens\":100,\"cache_read_input_tokens\":900,\"output_tokens\":1}}}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,",
            "\"delta\":{\"type\":\"text_delta\",\"text\":\"twelve bytes\"}}\n\n",
        );
        vec![Step::Send(stream_head("text/event-stream")), Step::Send(chunk(begun.as_bytes())), Step::Close]
    })
    .await;
    let mut proxy = TestProxy::new(&provider).await;
    let body = r#"{"model":"claude-sonnet-4-5","stream":true,"messages":[{"role":"user","content":"go"}]}"#;
    proxy.call(post("/agents/bot/anthropic/v1/messages", body)).await;
    let event = proxy.event().await;
    assert_eq!((event.usage.input, event.usage.output, event.estimated), (Some(1000), Some(3), true));
    assert_eq!(event.cost, Some(NanoUsd::new(100 * 3_000 + 900 * 300 + 3 * 15_000)));
}

/// A stream as OpenAI sends it if it is asked for usage, and as it sends it otherwise.
fn asked_and_plain() -> (String, String) {
    let plain = String::from_utf8(chat_stream(&["eight by", "tes"])).unwrap();
    let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":21,\"completion_tokens\":4}}\n\n";
    let asked = plain.replace("}]", "}],\"usage\":null").replace("data: [DONE]", &format!("{usage}data: [DONE]"));
    (asked, plain)
}

#[tokio::test]
async fn a_stream_is_asked_for_its_usage_and_the_client_does_not_see_it() {
    let (asked, plain) = asked_and_plain();
    for size in [1, 7, 100, asked.len()] {
        let stream = asked.clone();
        let mut provider = FakeProvider::new(move |_| {
            let pieces = stream.as_bytes().chunks(size).map(|piece| Step::Send(chunk(piece)));
            let head = [Step::Send(stream_head("text/event-stream"))];
            head.into_iter().chain(pieces).chain([Step::Send(LAST_CHUNK.into())]).collect()
        })
        .await;
        let mut config = crate::test_proxy::config();
        config.include_usage.insert("openai".to_owned(), true);
        let mut proxy = TestProxy::with(&provider, config, Default::default()).await;
        let body = streamed_question(PROMPT);
        let response = proxy.call(post(CHAT, body.clone())).await;
        assert_eq!(String::from_utf8_lossy(response.body()), plain, "in pieces of {size}");
        let received = provider.received().await;
        let spliced = format!("{{\"stream_options\":{{\"include_usage\":true}},{}", body.strip_prefix('{').unwrap());
        assert_eq!(String::from_utf8_lossy(&received.body), spliced);
        assert_eq!(received.header("content-length"), [spliced.len().to_string()]);
        let event = proxy.event().await;
        assert_eq!((event.usage.input, event.usage.output, event.estimated), (Some(21), Some(4), false));
    }
}

#[tokio::test]
async fn provider_with_another_base_url_gets_the_body_unchanged() {
    let mut provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = TestProxy::new(&provider).await;
    let body = streamed_question(PROMPT);
    proxy.call(post(CHAT, body.clone())).await;
    assert_eq!(provider.received().await.body, body.as_bytes());
}

#[tokio::test]
async fn death_of_a_provider_in_a_filtered_stream_is_reported() {
    let (asked, _) = asked_and_plain();
    let cut = asked[..asked.len() / 2].to_owned();
    let provider = FakeProvider::new(move |_| {
        vec![Step::Send(stream_head("text/event-stream")), Step::Send(chunk(cut.as_bytes())), Step::Close]
    })
    .await;
    let mut config = crate::test_proxy::config();
    config.include_usage.insert("openai".to_owned(), true);
    let proxy = TestProxy::with(&provider, config, Default::default()).await;
    let response = proxy.call(post(CHAT, streamed_question(PROMPT))).await;
    let body = String::from_utf8_lossy(response.body()).into_owned();
    assert!(body.contains("closed the connection") && body.ends_with("\n\n"), "{body}");
}
