//! An identity provider on this machine that does what a test asks, including what no provider
//! should. `scripts/test-clients` drives a real one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use model::Clock;
use rcgen::KeyPair;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::form_urlencoded;

pub(super) const CLIENT: &str = "gazer";
pub(super) const SECRET: &str = "canary-client-secret";
pub(super) const ACCESS_TOKEN: &str = "canary-access-token";

/// The provider.
#[derive(Clone)]
pub(super) struct IdentityProvider(Arc<Inner>);

struct Inner {
    url: String,
    key: EncodingKey,
    published: Jwk,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By code, which is valid once.
    logins: HashMap<String, Login>,
    /// The userinfo of a person.
    userinfo: Option<Value>,
    /// The forms sent to the token endpoint.
    forms: Vec<HashMap<String, String>>,
    issuer: Option<String>,
}

/// The login behind a code.
struct Login {
    challenge: String,
    token: String,
}

impl IdentityProvider {
    pub(super) async fn start() -> IdentityProvider {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let key = EncodingKey::from_ec_der(&KeyPair::generate().unwrap().serialize_der());
        let mut published = Jwk::from_encoding_key(&key, Algorithm::ES256).unwrap();
        published.common.key_id = Some("one".to_owned());
        let provider = IdentityProvider(Arc::new(Inner { url, key, published, state: Mutex::default() }));
        let serving = provider.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().answer(stream));
            }
        });
        provider
    }

    pub(super) fn url(&self) -> &str {
        &self.0.url
    }

    /// Sets the userinfo of people.
    pub(super) fn set_userinfo(&self, said: Value) {
        self.0.state.lock().unwrap().userinfo = Some(said);
    }

    /// Changes the issuer it claims to be.
    pub(super) fn rename(&self, issuer: &str) {
        self.0.state.lock().unwrap().issuer = Some(issuer.to_owned());
    }

    /// The forms that came with codes.
    pub(super) fn forms(&self) -> Vec<HashMap<String, String>> {
        self.0.state.lock().unwrap().forms.clone()
    }

    /// Valid claims for `subject` in `groups`.
    pub(super) fn claims(&self, subject: &str, groups: &[&str], nonce: &str) -> Value {
        let now = Clock::System.now().as_millis() / 1000;
        json!({
            "iss": self.url(), "aud": CLIENT, "sub": subject, "nonce": nonce, "iat": now, "exp": now + 300,
            "preferred_username": format!("{subject}@example"), "groups": groups,
        })
    }

    pub(super) fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some("one".to_owned()), ..Header::new(Algorithm::ES256) };
        encode(&header, claims, &self.0.key).unwrap()
    }

    /// A code for `token`; redeeming it requires the verifier whose hash is `challenge`.
    pub(super) fn issue_code(&self, challenge: &str, token: String) -> String {
        let mut state = self.0.state.lock().unwrap();
        let code = format!("code-{}-{}", state.logins.len(), state.forms.len());
        state.logins.insert(code.clone(), Login { challenge: challenge.to_owned(), token });
        code
    }

    async fn answer(self, mut stream: TcpStream) {
        let (path, head, body) = read_request(&mut stream).await;
        let (status, answer) = match path.as_str() {
            "/.well-known/openid-configuration" => (200, self.description()),
            "/jwks" => (200, serde_json::to_value(JwkSet { keys: vec![self.0.published.clone()] }).unwrap()),
            "/token" => self.redeem(&head, &body),
            "/userinfo" if head.contains(&format!("Bearer {ACCESS_TOKEN}")) => {
                (200, self.0.state.lock().unwrap().userinfo.clone().unwrap_or_default())
            }
            _ => (404, Value::Null),
        };
        let answer = answer.to_string();
        let length = answer.len();
        let head = format!("HTTP/1.1 {status} OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        let _ = stream.write_all(format!("{head}{answer}").as_bytes()).await;
    }

    fn description(&self) -> Value {
        let (url, state) = (self.url(), self.0.state.lock().unwrap());
        let userinfo = state.userinfo.as_ref().map(|_| format!("{url}/userinfo"));
        json!({
            "issuer": state.issuer.clone().unwrap_or_else(|| url.to_owned()),
            "authorization_endpoint": format!("{url}/authorize?tenant=a"), "token_endpoint": format!("{url}/token"),
            "jwks_uri": format!("{url}/jwks"), "userinfo_endpoint": userinfo,
            "code_challenge_methods_supported": ["S256"],
        })
    }

    fn redeem(&self, head: &str, body: &str) -> (u16, Value) {
        let form: HashMap<String, String> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
        let mut state = self.0.state.lock().unwrap();
        state.forms.push(form.clone());
        let credentials = base64::engine::general_purpose::STANDARD.encode(format!("{CLIENT}:{SECRET}"));
        if !head.contains(&format!("Basic {credentials}")) {
            return (401, json!({"error": "invalid_client"}));
        }
        let login = state.logins.remove(&form["code"]);
        let hashed = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
        match login.filter(|login| login.challenge == hashed) {
            Some(login) => {
                (200, json!({"id_token": login.token, "access_token": ACCESS_TOKEN, "token_type": "Bearer"}))
            }
            None => (400, json!({"error": "invalid_grant"})),
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> (String, String, String) {
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; 4096];
        let count = stream.read(&mut part).await.unwrap_or_default();
        bytes.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            assert!(count > 0, "the request broke off: {text}");
            continue;
        };
        let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) || count == 0 {
            let path = head.split(' ').nth(1).unwrap_or_default();
            return (path.to_owned(), head.to_owned(), body.to_owned());
        }
    }
}
