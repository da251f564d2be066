//! Agent keys: who may call under which name, and that no key is ever sent to a provider.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use model::{
    AgentKey, AgentKeyId, AgentKeys, AgentPattern, Clock, Format, KeyRefusal, KeyRequirement, KeyText, KillSwitch,
    Provider, RequireKey, Timestamp,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::provider::{FakeProvider, chat_answer};
use crate::test_proxy::{CHAT, PROMPT, TestProxy, config, json, post, question};

const NOW: Timestamp = Timestamp::from_millis(1_705_314_600_000);
const SHORT: &str = "/openai/v1/chat/completions";

/// A key for `agents`, and its text.
fn key(agents: &str, first: u8) -> (AgentKey, String) {
    let text = KeyText::random(|bytes| {
        bytes.iter_mut().zip(0_u8..).for_each(|(byte, place)| *byte = place.wrapping_mul(3).wrapping_add(first));
        Ok::<_, std::convert::Infallible>(())
    })
    .unwrap();
    let agents = AgentPattern::parse(agents).unwrap();
    let (id, hash, expires_at) = (AgentKeyId::new(), text.hash(), Some(Timestamp::from_millis(NOW.as_millis() + 1)));
    let key = AgentKey { id, name: None, agents, hash, created_at: NOW, expires_at, last_used_at: None };
    (key, text.expose().to_owned())
}

/// A proxy with `keys`, whose providers have a stored key or none.
async fn start_proxy(
    provider: &FakeProvider,
    keys: &AgentKeys,
    require: RequireKey,
    stored: Option<&str>,
) -> TestProxy {
    let key_requirement = KeyRequirement { require, is_exposed: true, allow_open_relay: false };
    let config = proxy::ProxyConfig { keys: keys.clone(), key_requirement, ..config() };
    let proxy = TestProxy::at(provider, config, KillSwitch::default(), Clock::manual(NOW)).await;
    let base = format!("http://{}", provider.address);
    for (name, format) in [("openai", Format::Openai), ("anthropic", Format::Anthropic), ("google", Format::Gemini)] {
        let mut made = Provider::new(name, &base, format).unwrap();
        made.key = stored.map(Into::into);
        proxy.providers.put(made);
    }
    proxy
}

fn with(path: &str, headers: &[(&str, &str)]) -> Request<Full<Bytes>> {
    let mut request = post(path, question(PROMPT));
    for (name, value) in headers {
        request.headers_mut().append(http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    request
}

fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}

fn assert_unauthorized(response: &Response<Bytes>) {
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{response:?}");
    assert_eq!(json(response)["block_reason"], "unauthorized");
    assert_eq!(response.headers()["x-should-retry"], "false");
    assert_eq!(response.headers()["x-agentgazer-blocked"], "unauthorized");
}

fn count(keys: &AgentKeys, why: KeyRefusal) -> u64 {
    keys.refusals().into_iter().find(|(it, _)| *it == why).unwrap().1
}

#[tokio::test]
async fn key_in_any_place_names_the_agent_and_is_replaced_by_the_stored_one() {
    let (bot, text) = key("bot", 1);
    let keys = AgentKeys::new([bot.clone()]);
    let mut provider = FakeProvider::sending(chat_answer("hi")).await;
    let mut proxy = start_proxy(&provider, &keys, RequireKey::Auto, Some("sk-stored")).await;
    let encoded = text.replace('_', "%5F");
    for (path, headers) in [
        (CHAT.to_owned(), vec![("authorization", bearer(&text))]),
        (SHORT.to_owned(), vec![("AUTHORIZATION", bearer(&text))]),
        (SHORT.to_owned(), vec![("x-api-key", text.clone())]),
        (SHORT.to_owned(), vec![("api-key", text.clone())]),
        (SHORT.to_owned(), vec![("X-Goog-Api-Key", text.clone())]),
        (format!("{SHORT}?key={text}&a=b"), vec![]),
        (format!("{SHORT}?a=b&k%65y={encoded}"), vec![("authorization", bearer(&text)), ("x-api-key", text.clone())]),
        (SHORT.to_owned(), vec![("authorization", bearer(&text)), ("x-other", text.clone()), ("cookie", text.clone())]),
    ] {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let response = proxy.call(with(&path, &headers)).await;
        assert_eq!(response.status(), StatusCode::OK, "{path} {headers:?}");
        let received = provider.received().await;
        let head = received.head.to_lowercase();
        assert!(!head.contains("agk_") && !head.contains("agk%5f"), "{head}");
        assert!(head.contains("authorization: bearer sk-stored"), "{head}");
        let event = proxy.event().await;
        assert_eq!((event.agent.as_str(), event.key), ("bot", Some(bot.id)));
    }
    assert_eq!(keys.all()[0].last_used_at(), Some(NOW));
}

#[tokio::test]
async fn spoofed_revoked_expired_and_wrong_keys_are_refused_and_leave_no_trace() {
    let [(bot, of_bot), (team, of_team), (gone, of_gone)] = [key("bot", 1), key("team-a/*", 2), key("gone", 3)];
    let old = AgentKey { expires_at: Some(NOW), ..key("old", 4).0 };
    let of_old = key("old", 4).1;
    let keys = AgentKeys::new([bot.clone(), team, gone.clone(), old]);
    keys.remove(gone.id);
    let mut provider = FakeProvider::sending(chat_answer("hi")).await;
    let mut proxy = start_proxy(&provider, &keys, RequireKey::Always, Some("sk-stored")).await;
    let mistyped = format!("{}x", &of_bot[..of_bot.len() - 1]);
    let named = |agent: &str| format!("/agents/{agent}/openai/v1/chat/completions");
    for (path, headers, why) in [
        (named("other"), vec![("authorization", bearer(&of_bot))], KeyRefusal::OtherAgent),
        (named("bot2"), vec![("authorization", bearer(&of_bot))], KeyRefusal::OtherAgent),
        (named("BOT"), vec![("authorization", bearer(&of_bot))], KeyRefusal::OtherAgent),
        (named("team-ab"), vec![("authorization", bearer(&of_team))], KeyRefusal::OtherAgent),
        (named("team-a-b:x"), vec![("authorization", bearer(&of_team))], KeyRefusal::OtherAgent),
        (SHORT.to_owned(), vec![("authorization", bearer(&of_team))], KeyRefusal::NoAgent),
        (named("gone"), vec![("authorization", bearer(&of_gone))], KeyRefusal::Unknown),
        (named("old"), vec![("authorization", bearer(&of_old))], KeyRefusal::Expired),
        (named("bot"), vec![("x-api-key", mistyped)], KeyRefusal::Malformed),
        (named("bot"), vec![("x-api-key", "agk_".to_owned())], KeyRefusal::Malformed),
        (named("bot"), vec![], KeyRefusal::Missing),
        (SHORT.to_owned(), vec![], KeyRefusal::Missing),
        (named("bot"), vec![("authorization", "Bearer sk-own".to_owned())], KeyRefusal::Missing),
        (named("bot"), vec![("authorization", bearer(&of_bot)), ("x-api-key", of_team.clone())], KeyRefusal::Several),
        (format!("{}?key={of_team}", named("bot")), vec![("authorization", bearer(&of_bot))], KeyRefusal::Several),
    ] {
        let before = count(&keys, why);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let response = proxy.call(with(&path, &headers)).await;
        assert_unauthorized(&response);
        assert_eq!(count(&keys, why), before + 1, "{path} {headers:?} {why:?}");
        let said = String::from_utf8_lossy(response.body()).into_owned();
        assert!(!said.contains("agk_"), "{said}");
    }
    for agent in ["other", "bot2", "gone", "old", "team-ab", "bot"] {
        assert!(proxy.guard.agent(&model::AgentId::parse(agent).unwrap()).is_none(), "{agent}");
    }
    // The only allowed call is the first that the provider and the recorder see.
    assert_eq!(proxy.call(with(&named("team-a:x"), &[("x-api-key", &of_team)])).await.status(), StatusCode::OK);
    assert_eq!(proxy.event().await.agent.as_str(), "team-a:x");
    assert!(provider.received().await.head.contains("sk-stored"));
    let refused: Vec<u64> = keys.all().iter().map(|it| it.refused()).collect();
    assert_eq!(refused, [3, 3, 1], "of bot, the team and the expired one");
}

#[tokio::test]
async fn api_tokens_and_cookies_of_the_dashboard_are_never_sent_to_a_provider() {
    let mut provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = start_proxy(&provider, &AgentKeys::default(), RequireKey::Never, None).await;
    for (path, headers) in [
        (CHAT.to_owned(), vec![("authorization", "Bearer agz_token")]),
        (CHAT.to_owned(), vec![("x-api-key", "agz_token")]),
        (format!("{CHAT}?key=agz%5Ftoken"), vec![]),
    ] {
        assert_unauthorized(&proxy.call(with(&path, &headers)).await);
    }
    assert_eq!(provider.calls(), 0);
    let cookies = [("authorization", "Bearer sk-own"), ("cookie", "agentgazer_session=secret; theirs=1")];
    assert_eq!(proxy.call(with(CHAT, &cookies)).await.status(), StatusCode::OK);
    let head = provider.received().await.head;
    assert!(head.contains("theirs=1") && !head.contains("secret"), "{head}");
}

#[tokio::test]
async fn key_is_never_sent_to_a_provider_without_a_stored_key() {
    let (bot, text) = key("bot", 1);
    let keys = AgentKeys::new([bot]);
    let mut provider = FakeProvider::sending(chat_answer("hi")).await;
    let mut proxy = start_proxy(&provider, &keys, RequireKey::Always, None).await;
    let refused = proxy.call(with(CHAT, &[("authorization", &bearer(&text))])).await;
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert!(json(&refused)["error"]["message"].as_str().unwrap().contains("no key is stored"), "{refused:?}");
    assert_eq!(proxy.event().await.status, Some(401));

    // The client's own credential beside it goes to the provider.
    let headers = [("authorization", "Bearer sk-own"), ("x-api-key", text.as_str())];
    assert_eq!(proxy.call(with(CHAT, &headers)).await.status(), StatusCode::OK);
    let head = provider.received().await.head;
    assert!(head.contains("Bearer sk-own") && !head.contains("agk_"), "{head}");
}

#[tokio::test]
async fn refusal_has_the_shape_of_the_callers_format() {
    let keys = AgentKeys::default();
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = start_proxy(&provider, &keys, RequireKey::Always, Some("sk-stored")).await;
    let anthropic = proxy.call(post("/agents/bot/anthropic/v1/messages", "{}")).await;
    assert_unauthorized(&anthropic);
    assert_eq!(json(&anthropic)["error"]["type"], "authentication_error");
    let google = proxy.call(post("/agents/bot/google/v1beta/models/m:generateContent", "{}")).await;
    assert_unauthorized(&google);
    assert_eq!(json(&google)["error"]["status"], "UNAUTHENTICATED");
    let openai = proxy.call(post(CHAT, "{}")).await;
    assert_unauthorized(&openai);
    assert_eq!(json(&openai)["error"]["code"], "unauthorized");
}

#[tokio::test]
async fn auto_requires_a_key_as_soon_as_a_provider_key_is_stored() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = start_proxy(&provider, &AgentKeys::default(), RequireKey::Auto, None).await;
    assert_eq!(proxy.ask(PROMPT).await.status(), StatusCode::OK);
    let mut other = Provider::new("mistral", "http://127.0.0.1:1", Format::Openai).unwrap();
    other.key = Some("sk-stored".into());
    proxy.providers.put(other);
    assert_unauthorized(&proxy.ask(PROMPT).await);
    proxy.providers.remove("mistral");
    assert_eq!(proxy.ask(PROMPT).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn call_through_a_reverse_proxy_needs_a_key_by_default() {
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = TestProxy::new(&provider).await;
    let path = "/agents/bot/openai/v1/chat/completions";
    let relayed = [("x-forwarded-for", "203.0.113.9"), ("forwarded", "for=203.0.113.9"), ("x-real-ip", "203.0.113.9")];
    for header in relayed {
        assert_eq!(proxy.call(with(path, &[header])).await.status(), StatusCode::OK, "no provider key is stored");
    }
    let mut stored = Provider::new("openai", &format!("http://{}", provider.address), Format::Openai).unwrap();
    stored.key = Some("sk-stored".into());
    proxy.providers.put(stored);
    let calls = provider.calls();
    for header in relayed {
        assert_unauthorized(&proxy.call(with(path, &[header])).await);
    }
    assert_eq!(provider.calls(), calls);
    assert_eq!(proxy.call(with(path, &[])).await.status(), StatusCode::OK, "a laptop needs no key");
}

#[tokio::test]
async fn short_path_without_a_provider_leads_nowhere() {
    let (bot, text) = key("bot", 1);
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = start_proxy(&provider, &AgentKeys::new([bot]), RequireKey::Auto, None).await;
    for path in ["/", "/v1/chat/completions", "/nobody/v1/chat/completions", "/agents", "/agents/bot"] {
        let response = proxy.call(with(path, &[("authorization", &bearer(&text))])).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn key_in_the_path_or_in_the_body_is_refused() {
    let (bot, text) = key("bot", 1);
    let keys = AgentKeys::new([bot]);
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = start_proxy(&provider, &keys, RequireKey::Auto, Some("sk-stored")).await;
    let in_path = proxy.call(with(&format!("/agents/{text}/openai/v1/chat/completions"), &[])).await;
    assert_eq!(in_path.status(), StatusCode::BAD_REQUEST);
    assert!(proxy.guard.agent(&model::AgentId::parse(&text).unwrap()).is_none());
    let body = serde_json::json!({"model": "gpt-5-mini", "key": text, "api_key": text, "messages": []}).to_string();
    assert_unauthorized(&proxy.call(post(CHAT, body)).await);
}

/// Sends a request on an open connection, and returns the status of the answer.
async fn status_on(stream: &mut TcpStream, version: &str, key: &str) -> u16 {
    let body = question(PROMPT);
    let head = format!("POST {SHORT} {version}\r\nHost: localhost\r\nConnection: keep-alive\r\nX-API-KEY: {key}\r\n");
    let request = format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    loop {
        let mut buffer = [0; 4096];
        let read = stream.read(&mut buffer).await.unwrap();
        answer.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&answer).to_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        if read == 0 || body.len() >= length.unwrap_or(0_usize) {
            return text.split(' ').nth(1).unwrap().parse().unwrap();
        }
    }
}

#[tokio::test]
async fn revocation_holds_on_a_connection_that_is_open() {
    let (bot, text) = key("bot", 1);
    let keys = AgentKeys::new([bot.clone()]);
    let provider = FakeProvider::sending(chat_answer("hi")).await;
    let proxy = start_proxy(&provider, &keys, RequireKey::Always, Some("sk-stored")).await;
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    assert_eq!(status_on(&mut stream, "HTTP/1.1", &text).await, 200);
    keys.remove(bot.id);
    assert_eq!(status_on(&mut stream, "HTTP/1.1", &text).await, 401);
    let mut old = TcpStream::connect(proxy.address).await.unwrap();
    assert_eq!(status_on(&mut old, "HTTP/1.0", &text).await, 401);
    keys.add(bot);
    let mut old = TcpStream::connect(proxy.address).await.unwrap();
    assert_eq!(status_on(&mut old, "HTTP/1.0", &text).await, 200);
}

/// Our own secrets (a key, an API token, the token of the first start) in unusual places, in calls
/// that need no key.
#[tokio::test]
async fn own_secrets_go_to_no_provider_wherever_they_stand() {
    const FIRST: &str = "first-token-canary-0123456789";
    let keys = AgentKeys::default();
    let mut provider = FakeProvider::sending(chat_answer("hi")).await;
    let key_requirement = KeyRequirement { require: RequireKey::Never, is_exposed: false, allow_open_relay: false };
    let own_tokens = proxy::OwnTokens::new(|text| String::from_utf8_lossy(text).contains(FIRST));
    let config = proxy::ProxyConfig { keys: keys.clone(), key_requirement, own_tokens, ..config() };
    let mut proxy = TestProxy::at(&provider, config, KillSwitch::default(), Clock::manual(NOW)).await;
    let of_other = key("other", 9).1;
    let encoded = |text: &str| text.replace('_', "%5F").replace('-', "%2D");
    let bearer_first = bearer(FIRST);
    // The user `u` with a password: `first-token-canary-0123456789`, `agz_canary`.
    let (basic_first, basic_api) = ("Basic dTpmaXJzdC10b2tlbi1jYW5hcnktMDEyMzQ1Njc4OQ==", "basic dTphZ3pfY2FuYXJ5");
    let (cookie, quoted) = (format!("a=b; key={}", encoded(&of_other)), format!("\"{}\"", encoded(FIRST)));
    let passes: [(String, &[(&str, &str)]); 11] = [
        (CHAT.to_owned(), &[("cookie", &cookie), ("authorization", "Bearer sk-own")]),
        (CHAT.to_owned(), &[("x-note", &quoted), ("authorization", "Bearer sk-own")]),
        (CHAT.to_owned(), &[("x-note", &bearer_first), ("authorization", "Bearer sk-own")]),
        (CHAT.to_owned(), &[("x-api-key", basic_first), ("authorization", "Bearer sk-own")]),
        (CHAT.to_owned(), &[("x-note", basic_api), ("authorization", "Bearer sk-own")]),
        (format!("{CHAT}?a=b&k%65y=%66{}", &FIRST[1..]), &[("authorization", "Bearer sk-own")]),
        (CHAT.to_owned(), &[("x-agent-key", &of_other), ("authorization", "Bearer sk-own")]),
        (CHAT.to_owned(), &[("x-note", "see agz_canary"), ("authorization", "Bearer sk-own")]),
        (CHAT.to_owned(), &[("cookie", "agentgazer_session=canary; a=b"), ("authorization", "Bearer sk-own")]),
        (format!("{CHAT}?token=agz_canary&trace={of_other}"), &[("authorization", "Bearer sk-own")]),
        (CHAT.to_owned(), &[("x-api-key", FIRST), ("authorization", "Bearer sk-own")]),
    ];
    for (path, headers) in passes {
        assert_eq!(proxy.call(with(&path, headers)).await.status(), StatusCode::OK, "{path} {headers:?}");
        let head = provider.received().await.head;
        assert!(head.contains("Bearer sk-own"), "{head}");
        let is_clean =
            !["agk", "agz_", "canary", "asic", "%2D", "cookie: a=b; key"].iter().any(|secret| head.contains(secret));
        assert!(is_clean, "{head}");
        proxy.event().await;
    }
    // Without a credential beside it there is nothing that the provider could be sent.
    let refused: [(String, &[(&str, &str)]); 6] = [
        (CHAT.to_owned(), &[("authorization", &bearer_first)]),
        (CHAT.to_owned(), &[("x-api-key", FIRST)]),
        (CHAT.to_owned(), &[("x-goog-api-key", FIRST), ("api-key", FIRST)]),
        (format!("{CHAT}?key={FIRST}"), &[]),
        (CHAT.to_owned(), &[("authorization", basic_first)]),
        (CHAT.to_owned(), &[("authorization", basic_api)]),
    ];
    for (path, headers) in refused {
        let response = proxy.call(with(&path, headers)).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{path} {headers:?}");
        assert!(!String::from_utf8_lossy(response.body()).contains(FIRST));
    }
    assert_eq!(provider.calls(), 11);
    // A stored key replaces it, as it replaces whatever a client has there.
    let stored = Provider::new("openai", &format!("http://{}", provider.address), Format::Openai).unwrap();
    proxy.providers.put(Provider { key: Some("sk-stored".into()), ..stored });
    assert_eq!(proxy.call(with(CHAT, &[("authorization", &bearer_first)])).await.status(), StatusCode::OK);
    let head = provider.received().await.head;
    assert!(head.contains("Bearer sk-stored") && !head.contains(FIRST), "{head}");
}
