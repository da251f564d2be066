//! JSON Web Tokens that name agents, with an issuer that publishes its keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use model::Clock;
use rcgen::KeyPair;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::support::{Answer, Server, ServerBuilder, openai_request, provider};

const ISSUER: &str = "https://login.example";
const AUDIENCE: &str = "agentgazer";

/// An issuer on this machine.
struct Issuer {
    url: String,
    published: watch::Sender<Vec<Jwk>>,
    fetches: Arc<AtomicUsize>,
}

/// A key of the issuer.
struct Key {
    signs: EncodingKey,
    published: Jwk,
}

impl Key {
    fn new(id: &str) -> Key {
        let signs = EncodingKey::from_ec_der(&KeyPair::generate().unwrap().serialize_der());
        let mut published = Jwk::from_encoding_key(&signs, Algorithm::ES256).unwrap();
        published.common.key_id = Some(id.to_owned());
        Key { signs, published }
    }

    fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: self.published.common.key_id.clone(), ..Header::new(Algorithm::ES256) };
        encode(&header, claims, &self.signs).unwrap()
    }
}

impl Issuer {
    async fn start(keys: &[&Key]) -> Issuer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks.json", listener.local_addr().unwrap());
        let published = watch::Sender::new(keys.iter().map(|key| key.published.clone()).collect::<Vec<_>>());
        let (current, fetches) = (published.subscribe(), Arc::new(AtomicUsize::new(0)));
        let counter = Arc::clone(&fetches);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::Relaxed);
                let _ = stream.read(&mut [0; 4096]).await;
                let body = serde_json::to_string(&JwkSet { keys: current.borrow().clone() }).unwrap();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
                let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
            }
        });
        Issuer { url, published, fetches }
    }

    fn server(&self, provider_url: &str) -> Server {
        self.server_with(provider_url, "proxy.require_key=auto")
    }

    /// A server with one more setting.
    fn server_with(&self, provider_url: &str, setting: &str) -> Server {
        let settings = [
            format!("auth.jwt.issuer={ISSUER}"),
            format!("auth.jwt.audience={AUDIENCE}"),
            format!("auth.jwt.jwks_url={}", self.url),
        ];
        let mut flags = vec!["--allow-private-targets", "--set", setting];
        flags.extend(settings.iter().flat_map(|setting| ["--set", setting]));
        ServerBuilder::new(provider_url).arguments(&flags).start()
    }
}

/// The claims of a valid token for `agent` that expires in an hour.
fn claims(agent: &str) -> Value {
    let now = Clock::System.now().as_millis() / 1000;
    json!({"iss": ISSUER, "aud": AUDIENCE, "sub": agent, "iat": now, "exp": now + 3600})
}

fn changed(agent: &str, key: &str, value: Value) -> Value {
    let mut claims = claims(agent);
    claims[key] = value;
    claims
}

async fn call(server: &Server, agent: &str, header: &str, token: &str) -> Answer {
    let value = if header == "authorization" { format!("Bearer {token}") } else { token.to_owned() };
    let request = Request::post(format!("{}/agents/{agent}/openai/v1/chat/completions", server.proxy))
        .header("content-type", "application/json")
        .header(header, value)
        .body(Full::new(Bytes::from(openai_request("Why?").to_string())));
    server.http.send(request.unwrap()).await.unwrap()
}

#[tokio::test]
async fn call_with_a_token_records_whom_the_issuer_names() {
    let (provider, key) = (provider().await, Key::new("one"));
    let server = Issuer::start(&[&key]).await.server(&provider.url());
    assert_eq!(call(&server, "a", "authorization", &key.sign(&claims("a"))).await.status, 200);
    let details = &server.events("a", "llm_call").await[0]["details"];
    assert_eq!((&details["token_subject"], &details["key_id"]), (&json!("a"), &Value::Null));
}

#[tokio::test]
async fn a_good_token_calls_and_never_reaches_the_provider() {
    let (provider, key) = (provider().await, Key::new("one"));
    let server = Issuer::start(&[&key]).await.server(&provider.url());
    let token = key.sign(&claims("a"));
    for header in ["authorization", "x-api-key", "x-goog-api-key"] {
        assert_eq!(call(&server, "a", header, &token).await.status, 200, "{header}");
        let seen = provider.seen().last().unwrap();
        assert!(!format!("{:?}", seen.headers).contains(&token), "{:?}", seen.headers);
    }
    assert!(!server.log().contains(&token));
    let other = call(&server, "b", "authorization", &token).await;
    assert_eq!(other.status, 401, "the token is for another agent: {:?}", other.body);
    assert!(other.json()["error"]["message"].as_str().unwrap().contains("another agent"));
}

/// The token beside a credential of the client's own, where it does not belong.
#[tokio::test]
async fn token_in_an_unusual_place_never_reaches_the_provider() {
    let (provider, key) = (provider().await, Key::new("one"));
    let server = Issuer::start(&[&key]).await.server(&provider.url());
    let token = key.sign(&claims("a"));
    let encoded = token.replace('.', "%2E");
    for (query, header, expected) in [
        (format!("?alt=sse&key={token}"), ("x-note", "kept".to_owned()), "a"),
        (format!("?trace={token}&alt=sse"), ("x-note", "kept".to_owned()), "b"),
        ("?alt=sse".to_owned(), ("x-auth-token", token.clone()), "b"),
        ("?alt=sse".to_owned(), ("x-api-key", format!("Token {token}")), "a"),
        (format!("?k%65y={encoded}&alt=sse"), ("x-note", "kept".to_owned()), "a"),
        (format!("?{encoded}&alt=sse"), ("x-note", "kept".to_owned()), "b"),
        ("?alt=sse".to_owned(), ("cookie", format!("a=b; jwt={token}")), "b"),
        ("?alt=sse".to_owned(), ("x-note", format!("\"{encoded}\", kept")), "b"),
        ("?alt=sse".to_owned(), ("x-note", format!("Basic {}", STANDARD.encode(format!("u:{token}")))), "b"),
    ] {
        let request = Request::post(format!("{}/agents/{expected}/openai/v1/chat/completions{query}", server.proxy))
            .header("content-type", "application/json")
            .header("authorization", "Bearer sk-own")
            .header(header.0, header.1)
            .body(Full::new(Bytes::from(openai_request("Why?").to_string())));
        assert_eq!(server.http.send(request.unwrap()).await.unwrap().status, 200, "{query} {}", header.0);
        let seen = provider.seen().last().unwrap();
        assert_eq!(
            (seen.uri.to_string(), seen.headers["authorization"].as_bytes()),
            ("/v1/chat/completions?alt=sse".to_owned(), &b"Bearer sk-own"[..])
        );
        let (headers, signature) = (format!("{:?}", seen.headers), token.rsplit('.').next().unwrap());
        assert!(!headers.contains(signature) && !headers.contains("Basic"), "{headers}");
    }
    let in_path = Request::post(format!("{}/agents/b/openai/v1/files/{token}", server.proxy));
    let in_path = in_path.header("authorization", "Bearer sk-own").body(Full::new(Bytes::new())).unwrap();
    assert_eq!(server.http.send(in_path).await.unwrap().status, 400);
    // One that is too long is refused, and not taken for the key of a provider.
    let long = key.sign(&changed("a", "note", json!("x".repeat(20_000))));
    let refused = call(&server, "a", "authorization", &long).await;
    assert_eq!(refused.status, 401);
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("too long"), "{:?}", refused.body);
}

#[tokio::test]
async fn bad_tokens_are_refused() {
    let (provider, key, stranger) = (provider().await, Key::new("one"), Key::new("one"));
    let server = Issuer::start(&[&key]).await.server(&provider.url());
    let now = Clock::System.now().as_millis() / 1000;
    let none = {
        let part = |value: Value| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.", part(json!({"alg": "none", "typ": "JWT"})), part(claims("a")))
    };
    // The public key as a shared secret, which a confused verifier would accept.
    let secret = serde_json::to_vec(&key.published).unwrap();
    let header = Header { kid: Some("one".to_owned()), ..Header::new(Algorithm::HS256) };
    let confused = encode(&header, &claims("a"), &EncodingKey::from_secret(&secret)).unwrap();
    let mut tampered = key.sign(&claims("a"));
    tampered.replace_range(tampered.len() - 4.., "AAAA");
    for (what, token) in [
        ("alg none", none),
        ("hmac", confused),
        ("another key of that name", stranger.sign(&claims("a"))),
        ("tampered", tampered),
        ("expired", key.sign(&changed("a", "exp", json!(now - 120)))),
        ("not yet", key.sign(&changed("a", "nbf", json!(now + 600)))),
        ("audience", key.sign(&changed("a", "aud", json!("another")))),
        ("no audience", key.sign(&changed("a", "aud", Value::Null))),
        ("no end", key.sign(&changed("a", "exp", Value::Null))),
        ("no agent", key.sign(&changed("a", "sub", json!("")))),
    ] {
        let answer = call(&server, "a", "authorization", &token).await;
        assert_eq!(answer.status, 401, "{what}: {:?}", answer.body);
        assert_eq!(answer.header("x-should-retry"), "false");
        assert_eq!(answer.json()["block_reason"], "unauthorized", "{what}");
        let names_claim = answer.text().contains("auth.jwt.agent_claim");
        assert_eq!(names_claim, what == "no agent", "{what}: {}", answer.text());
    }
    assert_eq!(crate::support::requests(&provider), 0);
    let skewed = key.sign(&changed("a", "exp", json!(now - 30)));
    assert_eq!(call(&server, "a", "authorization", &skewed).await.status, 200, "clocks may differ by a minute");
}

#[tokio::test]
async fn a_new_key_is_fetched_once_and_invented_ones_are_not() {
    let (provider, first, second) = (provider().await, Key::new("one"), Key::new("two"));
    let issuer = Issuer::start(&[]).await;
    issuer.published.send_replace(vec![first.published.clone(), second.published.clone()]);
    let server = issuer.server(&provider.url());
    assert_eq!(call(&server, "a", "authorization", &first.sign(&claims("a"))).await.status, 200);
    assert_eq!(call(&server, "a", "authorization", &second.sign(&claims("a"))).await.status, 200);
    for number in 0..20 {
        let invented = Key::new(&format!("invented-{number}"));
        assert_eq!(call(&server, "a", "authorization", &invented.sign(&claims("a"))).await.status, 401);
    }
    assert_eq!(issuer.fetches.load(Ordering::Relaxed), 1, "anybody can invent names of keys");
}

#[tokio::test]
async fn tokens_of_other_issuers_are_keys_of_providers() {
    let (provider, key) = (provider().await, Key::new("one"));
    let server = Issuer::start(&[&key]).await.server(&provider.url());
    let foreign = key.sign(&changed("a", "iss", json!("https://provider.example")));
    assert_eq!(call(&server, "a", "authorization", &foreign).await.status, 200);
    let seen = provider.seen().last().unwrap();
    assert_eq!(seen.headers["authorization"], format!("Bearer {foreign}").as_str(), "passed on untouched");
}

#[tokio::test]
async fn a_token_is_as_good_as_a_key_where_one_is_required() {
    let (provider, key) = (provider().await, Key::new("one"));
    let issuer = Issuer::start(&[&key]).await;
    let server = issuer.server_with(&provider.url(), "proxy.require_key=always");
    let token = key.sign(&claims("a"));
    assert_eq!(call(&server, "a", "authorization", &token).await.status, 200);
    assert_eq!(call(&server, "a", "authorization", "sk-other").await.status, 401, "neither key nor token");
    // The token names the agent, so the path need not.
    let short = Request::post(format!("{}/openai/v1/chat/completions", server.proxy))
        .header("authorization", format!("Bearer {token}"))
        .body(Full::new(Bytes::from(openai_request("How?").to_string())));
    assert_eq!(server.http.send(short.unwrap()).await.unwrap().status, 200);
    let both = Request::post(format!("{}/agents/a/openai/v1/chat/completions", server.proxy))
        .header("authorization", format!("Bearer {token}"))
        .header("x-api-key", "agk_0000")
        .body(Full::new(Bytes::from(openai_request("Both?").to_string())));
    assert_eq!(server.http.send(both.unwrap()).await.unwrap().status, 401, "a key beside the token");
    assert_eq!(crate::support::requests(&provider), 2);
}
