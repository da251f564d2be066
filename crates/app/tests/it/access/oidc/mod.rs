//! Logins at an identity provider: the redirects, and forged answers.

mod identity_provider;
mod replicas;

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};
use url::Url;

use self::identity_provider::{ACCESS_TOKEN, CLIENT, IdentityProvider, SECRET};
use crate::support::{Answer, Server, ServerBuilder, eventually, provider};

const ROLES: &str = "auth.oidc.roles=gazer-admins=admin,ops=operator";

async fn start(login: &IdentityProvider) -> Server {
    let provider = provider().await;
    with_login(ServerBuilder::new(&provider.url()), login.url()).start()
}

fn with_login(builder: ServerBuilder, issuer: &str) -> ServerBuilder {
    let settings = [
        format!("auth.oidc.issuer={issuer}"),
        format!("auth.oidc.client_id={CLIENT}"),
        format!("auth.oidc.client_secret={SECRET}"),
    ];
    let mut flags = vec!["--allow-private-targets", "--set", ROLES];
    flags.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    builder.arguments(&flags)
}

/// A browser between the server and the provider.
struct Browser<'a> {
    server: &'a Server,
    cookies: HashMap<String, String>,
}

/// A login in progress.
struct Begun {
    state: String,
    nonce: String,
    challenge: String,
}

impl<'a> Browser<'a> {
    fn new(server: &'a Server) -> Browser<'a> {
        Browser { server, cookies: HashMap::new() }
    }

    async fn request(&mut self, method: Method, path: &str) -> Answer {
        let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = Request::builder().method(&method).uri(format!("{}{path}", self.server.dashboard));
        let request = request.header("cookie", cookies.join("; ")).header("origin", &self.server.dashboard);
        let answer = self.server.http.send(request.body(Full::<Bytes>::default()).unwrap()).await.unwrap();
        for cookie in answer.headers.get_all("set-cookie") {
            let (pair, rest) = cookie.to_str().unwrap().split_once(';').unwrap();
            assert!(rest.contains("HttpOnly") && rest.contains("SameSite=Lax"), "{rest}");
            let (name, value) = pair.split_once('=').unwrap();
            match value {
                "" => self.cookies.remove(name),
                value => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
        answer
    }

    async fn get(&mut self, path: &str) -> Answer {
        self.request(Method::GET, path).await
    }

    /// Starts a login.
    async fn begin(&mut self, next: &str) -> Begun {
        let answer = self.get(&format!("/login/oidc?next={next}")).await;
        assert_eq!(answer.status, 303, "{}", answer.text());
        let url = Url::parse(answer.header("location")).unwrap();
        let said: HashMap<String, String> = url.query_pairs().into_owned().collect();
        let expected = [
            ("tenant", "a"),
            ("response_type", "code"),
            ("client_id", CLIENT),
            ("scope", "openid profile email"),
            ("code_challenge_method", "S256"),
        ];
        for (name, value) in expected {
            assert_eq!(said[name], value, "{name}");
        }
        assert_eq!(said["redirect_uri"], format!("{}/login/oidc/callback", self.server.dashboard));
        let own = |name: &str| said[name].clone();
        Begun { state: own("state"), nonce: own("nonce"), challenge: own("code_challenge") }
    }

    async fn come_back(&mut self, state: &str, code: &str) -> Answer {
        self.get(&format!("/login/oidc/callback?state={state}&code={code}")).await
    }

    /// Logs in with valid claims, modified by `change`.
    async fn log_in(&mut self, login: &IdentityProvider, groups: &[&str], change: impl Fn(&mut Value)) -> Answer {
        let begun = self.begin("/agents").await;
        let mut claims = login.claims("ann", groups, &begun.nonce);
        change(&mut claims);
        let code = login.issue_code(&begun.challenge, login.sign(&claims));
        self.come_back(&begun.state, &code).await
    }

    fn has_session(&self) -> bool {
        self.cookies.contains_key("agentgazer_session")
    }
}

/// The row of a login in the audit log, which is written after the answer.
async fn audit_row(server: &Server, action: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let path = format!("/api/audit?action={action}");
    eventually(action, async || {
        server.get(&path).await["items"].as_array().unwrap().iter().find(|row| is_it(row)).cloned()
    })
    .await
}

async fn refusal(server: &Server, why: &str) -> Value {
    audit_row(server, "session.refuse", |row| row["after"]["why"] == why).await
}

#[tokio::test]
async fn person_logs_in_with_the_role_of_their_group_and_out_again() {
    let login = IdentityProvider::start().await;
    let server = start(&login).await;
    let mut browser = Browser::new(&server);
    assert!(browser.get("/login").await.text().contains("/login/oidc"));
    browser.cookies.insert("agentgazer_session".to_owned(), "fixed-by-somebody-else".to_owned());
    let answer = browser.log_in(&login, &["staff", "ops"], |_| {}).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/agents"), "{}", answer.text());
    assert_ne!(browser.cookies["agentgazer_session"], "fixed-by-somebody-else");
    assert!(!browser.cookies.contains_key("agentgazer_login"), "it is good for one answer");

    assert_eq!(browser.get("/agents").await.status, 200);
    assert_eq!(browser.get("/settings/people").await.status, 403, "an operator is no admin");
    let form = &login.forms()[0];
    assert_eq!((&*form["grant_type"], form.contains_key("client_secret")), ("authorization_code", false));
    let opened = audit_row(&server, "session.open", |_| true).await;
    assert_eq!(
        opened["actor"],
        json!({"kind": "user", "id": "oidc:ann", "name": "ann@example", "role": "operator",
        "address": "127.0.0.1", "via": "dashboard"})
    );
    let session = &server.get("/api/sessions").await["items"][0];
    assert_eq!((&session["name"], &session["role"]), (&json!("ann@example"), &json!("operator")));

    let log = server.log();
    for secret in [SECRET, ACCESS_TOKEN, &*form["code"], &*form["code_verifier"]] {
        assert!(!log.contains(secret), "{secret}");
    }
    assert_eq!(browser.request(Method::POST, "/logout").await.status, 303);
    assert_eq!(browser.get("/agents").await.header("location"), "/login?next=/agents");
}

#[tokio::test]
async fn session_of_a_provider_survives_a_restart_and_ends_with_the_provider() {
    let login = IdentityProvider::start().await;
    let server = start(&login).await;
    let mut browser = Browser::new(&server);
    browser.log_in(&login, &["gazer-admins"], |_| {}).await;
    let cookies = browser.cookies.clone();
    let server = server.kill().start();
    let mut again = Browser { server: &server, cookies: cookies.clone() };
    assert_eq!(again.get("/settings/people").await.status, 200);
    let server = with_login(server.kill(), "https://other.example").start();
    let mut again = Browser { server: &server, cookies };
    assert_eq!(again.get("/agents").await.status, 303, "another provider is configured");
}

#[tokio::test]
async fn person_without_a_role_gets_a_page_and_no_session() {
    let login = IdentityProvider::start().await;
    let server = start(&login).await;
    let mut browser = Browser::new(&server);
    let answer = browser.log_in(&login, &["staff"], |_| {}).await;
    assert_eq!(answer.status, 403);
    assert!(answer.text().contains("none of your groups has a role here"), "{}", answer.text());
    assert!(!browser.has_session());
    let refused = refusal(&server, "no_role").await;
    assert_eq!((&refused["target"], &refused["actor"]["role"]), (&json!("oidc:ann"), &Value::Null));
    assert_eq!(refused["after"], json!({"how": "oidc", "why": "no_role", "attempts": 1}));
}

#[tokio::test]
async fn groups_come_from_the_userinfo_of_the_same_person_only() {
    let login = IdentityProvider::start().await;
    login.set_userinfo(json!({"sub": "ann", "groups": ["ops"]}));
    let server = start(&login).await;
    let without_groups = |claims: &mut Value| drop(claims.as_object_mut().unwrap().remove("groups"));
    let mut browser = Browser::new(&server);
    assert_eq!(browser.log_in(&login, &[], without_groups).await.status, 303);
    login.set_userinfo(json!({"sub": "eve", "groups": ["ops"]}));
    let mut browser = Browser::new(&server);
    assert_eq!(browser.log_in(&login, &[], without_groups).await.status, 401);
    assert!(!browser.has_session());
}

#[tokio::test]
async fn forged_tokens_open_no_session() {
    let login = IdentityProvider::start().await;
    let server = start(&login).await;
    let now = model::Clock::System.now().as_millis() / 1000;
    let forged: [(&str, Value); 8] = [
        ("nonce", json!("of-another-login")),
        ("nonce", Value::Null),
        ("aud", json!("another-client")),
        ("aud", json!([CLIENT, "another-client"])),
        ("iss", json!("https://another.example")),
        ("exp", json!(now - 300)),
        ("exp", Value::Null),
        ("sub", json!("")),
    ];
    for (claim, value) in forged {
        let mut browser = Browser::new(&server);
        let answer = browser.log_in(&login, &["gazer-admins"], |claims| claims[claim] = value.clone()).await;
        assert_eq!(answer.status, 401, "{claim} {value}: {}", answer.text());
        assert!(!browser.has_session(), "{claim} {value}");
    }
}

#[tokio::test]
async fn unsigned_token_and_token_of_another_key_open_no_session() {
    let (login, other) = (IdentityProvider::start().await, IdentityProvider::start().await);
    let server = start(&login).await;
    let part = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let unsigned = |claims: &Value| format!("{}.{}.", part(json!({"alg": "none"})), part(claims.clone()));
    // The public key as a shared secret.
    let shared = |claims: &Value| {
        let header = jsonwebtoken::Header { kid: Some("one".to_owned()), ..Default::default() };
        jsonwebtoken::encode(&header, claims, &jsonwebtoken::EncodingKey::from_secret(b"one")).unwrap()
    };
    let forge: [&dyn Fn(&Value) -> String; 3] = [&unsigned, &shared, &|claims| other.sign(claims)];
    for forge in forge {
        let mut browser = Browser::new(&server);
        let begun = browser.begin("/").await;
        let token = forge(&login.claims("ann", &["gazer-admins"], &begun.nonce));
        let answer = browser.come_back(&begun.state, &login.issue_code(&begun.challenge, token)).await;
        assert_eq!((answer.status.as_u16(), browser.has_session()), (401, false), "{}", answer.text());
    }
}

#[tokio::test]
async fn answer_of_another_login_opens_no_session() {
    let login = IdentityProvider::start().await;
    let server = start(&login).await;
    let (mut ann, mut eve) = (Browser::new(&server), Browser::new(&server));
    let (begun, of_eve) = (ann.begin("/").await, eve.begin("/").await);
    let code = |begun: &Begun| {
        let token = login.sign(&login.claims("eve", &["gazer-admins"], &begun.nonce));
        login.issue_code(&begun.challenge, token)
    };
    // Eve makes Ann follow the link of Eve's own login, so that Ann would work under Eve's name.
    let answer = ann.come_back(&of_eve.state, &code(&of_eve)).await;
    assert!(answer.text().contains("was not begun in this browser"), "{}", answer.text());
    // Ann's own state with the code of Eve's login: it was begun with another verifier.
    let begun_again = ann.begin("/").await;
    assert_eq!(ann.come_back(&begun_again.state, &code(&of_eve)).await.status, 401);
    // Without a login in progress.
    let code_of_ann = code(&begun);
    assert_eq!(Browser::new(&server).come_back(&begun.state, &code_of_ann).await.status, 401);
    // The provider's answer a second time, with the cookie that was kept.
    let begun = ann.begin("/").await;
    let (kept, code) = (ann.cookies.clone(), code(&begun));
    assert_eq!(ann.come_back(&begun.state, &code).await.status, 303);
    let mut replay = Browser { server: &server, cookies: kept.clone() };
    assert_eq!(replay.come_back(&begun.state, &code).await.status, 401);
    // A provider that issues a second code for a login that was finished.
    let token = login.sign(&login.claims("eve", &["gazer-admins"], &begun.nonce));
    let mut again = Browser { server: &server, cookies: kept };
    assert_eq!(again.come_back(&begun.state, &login.issue_code(&begun.challenge, token)).await.status, 401);
    assert!(!replay.has_session() && !again.has_session());
    for why in ["state", "code", "replayed"] {
        refusal(&server, why).await;
    }
}

#[tokio::test]
async fn provider_that_is_down_or_another_leaves_the_token_as_the_way_in() {
    let login = IdentityProvider::start().await;
    login.rename("https://another.example");
    let server = start(&login).await;
    let mut browser = Browser::new(&server);
    let answer = browser.get("/login/oidc").await;
    assert_eq!(answer.status, 503);
    assert!(answer.text().contains("log in with the token"), "{}", answer.text());
    assert!(server.log().contains("it calls itself"), "{}", server.log());
    assert!(server.get("/api/status").await.is_object());
}

#[tokio::test]
async fn settings_of_a_login_must_be_complete() {
    let run = crate::support::run(&["start", "--port", "0", "--proxy-port", "0", "--set", "auth.oidc.client_id=gazer"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    for missing in ["auth.oidc.issuer must be set", "auth.oidc.roles must be set"] {
        assert!(run.stderr.contains(missing), "{run:?}");
    }
}
