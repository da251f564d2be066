//! A router on a fresh store, and a client of it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use axum::response::Response;
use control::{Control, Token};
use guard::{Decision, Guard, GuardConfig, NewCall, Scored, Verdict};
use http_body_util::BodyExt;
use model::{
    AgentId, AllowedHosts, Answered, Asked, CallId, Clock, Event, EventType, Evidence, Failures, Format, Incident,
    IncidentId, IncidentState, Kill, MatchedCall, Policy, Provider, Providers, RecorderHandle, Timestamp,
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use store::{Recorder, Store, StoreConfig};
use tempfile::TempDir;
use tower::ServiceExt;
use web::Web;

pub(crate) const TOKEN: &str = "canary-token-5f1e";
pub(crate) const PROMPT: &str = "please fix the <script>alert('import')</script> error in the file main dot py";

/// The router and the state behind it.
pub(crate) struct Server {
    pub(crate) router: Router,
    pub(crate) web: Web,
    kept: Arc<Mutex<String>>,
    _directory: TempDir,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {} {}", self.status, self.text))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Server {
    pub(crate) async fn start() -> Server {
        Server::with_policy(Policy::default()).await
    }

    /// A server with a default policy.
    pub(crate) async fn with_policy(policy: Policy) -> Server {
        let kept = Arc::new(Mutex::new(String::new()));
        let keep = Arc::clone(&kept);
        let token = Token::generated(TOKEN, move |token| {
            *keep.lock().unwrap() = token.expose_secret().to_owned();
            Ok(())
        });
        Server { kept, ..Server::made(policy, token).await }
    }

    /// A server with a token that can be replaced or not.
    pub(crate) async fn with_token(token: Token) -> Server {
        Server::made(Policy::default(), token).await
    }

    async fn made(policy: Policy, token: Token) -> Server {
        let directory = TempDir::new().unwrap();
        let clock = Clock::manual(Timestamp::from_millis(1_705_314_600_000));
        let config = StoreConfig::new(directory.path(), directory.path().join("provider.key"));
        // The same clock, or retention would take what the tests write for very old.
        let config = StoreConfig { clock: clock.clone(), ..config };
        let store = Store::open(config).await.unwrap();
        let (recorder_handle, inbox) = RecorderHandle::new(100);
        let (recorder, _writer) = Recorder::start(store.clone(), inbox);
        let openai = Provider::new("openai", "https://api.openai.com", Format::Openai).unwrap();
        let guard = Arc::new(Guard::with_policy(GuardConfig::default(), policy.clone()));
        let providers = Providers::new([openai.clone()]);
        let control = Control::new(control::Parts {
            guard: Arc::clone(&guard),
            store: store.clone(),
            recorder: recorder.clone(),
            providers: providers.clone(),
            configured_providers: vec![openai],
            agent_keys: model::AgentKeys::default(),
            key_requirement: model::KeyRequirement::default(),
            configured_policy: policy,
            token: token.clone(),
            clock: clock.clone(),
        });
        let web = Web {
            control,
            guard,
            store,
            recorder,
            recorder_handle,
            providers,
            allow_private_targets: false,
            mail: mail(),
            names: names(),
            recording: web::Recording::default(),
            opening_words: web::OpeningWords::default(),
            proxy_url: "http://127.0.0.1:18900".into(),
            public_url: "http://127.0.0.1:18880".into(),
            token,
            sessions: web::SessionStorage::default(),
            drills: web::Drills::default(),
            is_https: false,
            access: web::Access::default(),
            warnings: web::Warnings::default(),
            detection_failures: Failures::default(),
            hosts: AllowedHosts::new(IpAddr::from(Ipv4Addr::LOCALHOST), []),
            draining: Arc::new(AtomicBool::new(false)),
            clock,
        };
        Server { router: web::router(web.clone()), web, kept: Arc::default(), _directory: directory }
    }

    /// A server that has just started on the same data.
    pub(crate) async fn restarted(&self) -> Server {
        let mut web = self.web.clone();
        let token = web.token.clone();
        web.control = Control::new(control::Parts {
            guard: Arc::clone(&web.guard),
            store: web.store.clone(),
            recorder: web.recorder.clone(),
            providers: web.providers.clone(),
            configured_providers: Vec::new(),
            agent_keys: model::AgentKeys::default(),
            key_requirement: model::KeyRequirement::default(),
            configured_policy: Policy::default(),
            token,
            clock: web.clock.clone(),
        });
        web.control.load_people().await.unwrap();
        let directory = TempDir::new().unwrap();
        Server { router: web::router(web.clone()), web, kept: Arc::default(), _directory: directory }
    }

    /// All files of the data directory with their names.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let files = std::fs::read_dir(self._directory.path()).unwrap().flatten();
        let files = files.filter(|file| file.path().is_file());
        files.map(|file| (file.path().display().to_string(), std::fs::read(file.path()).unwrap())).collect()
    }

    /// The token that was stored last.
    pub(crate) fn kept_token(&self) -> String {
        self.kept.lock().unwrap().clone()
    }

    /// Sends a request unchanged, and returns the answer before its body is read.
    pub(crate) async fn open(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// Sends a request unchanged.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.open(request).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    /// Sends a request with the token, and with `body` as JSON if there is one.
    pub(crate) async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let request = request(method, path).header("authorization", format!("Bearer {TOKEN}"));
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string().into()),
            None => request.body(Body::empty()),
        };
        self.send(request.unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, None).await
    }

    /// Gets a resource that must exist.
    pub(crate) async fn json(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        answer.json()
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.ask(Method::PUT, path, Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.ask(Method::PATCH, path, Some(body)).await
    }

    /// Logs in and returns the cookie.
    pub(crate) async fn log_in(&self) -> String {
        let answer = self.send(form("/login", &format!("token={TOKEN}"))).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
        answer.header("set-cookie").split(';').next().unwrap().to_owned()
    }

    /// Lets an agent ask the same until it is killed, and waits until the kill is on disk.
    pub(crate) async fn kill(&self, name: &str) -> IncidentId {
        let settings = json!({"enabled": true, "threshold": 5.0, "counting": "literal"});
        let answer = self.put(&format!("/api/agents/{name}/kill-switch"), settings).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let kill = self.loop_until_killed(&AgentId::parse(name).unwrap());
        let id = kill.incident;
        let (incident, event) = record(kill);
        assert!(self.web.recorder_handle.kill(incident, event).wait().await);
        id
    }

    /// Lets an agent ask the same until the guard stops it; nothing is recorded.
    pub(crate) fn loop_until_killed(&self, agent: &AgentId) -> Kill {
        for _ in 0..10 {
            let scored = self.call(agent);
            if let Verdict::Kill(kill) = scored.verdict {
                return kill;
            }
            self.web.guard.on_answer(
                &scored.ticket,
                &Answered { text: "I cannot do that".into(), tool_calls: vec![] },
                self.web.clock.now(),
            );
        }
        panic!("never killed");
    }

    /// Lets an agent make one call.
    pub(crate) fn call(&self, agent: &AgentId) -> Scored {
        let asked = Asked { prompt: vec![PROMPT.into()], newest_message: "{}", ..Default::default() };
        let call = NewCall { agent, call: CallId::new(), conversation: "one", body: PROMPT.as_bytes(), asked: &asked };
        match self.web.guard.on_call(&call, self.web.clock.now()) {
            Decision::Scored(scored) => *scored,
            Decision::Inactive(_) => panic!("{agent} is inactive"),
        }
    }
}

/// A configured mail server that takes every test mail but those to `nobody@example.com`.
fn mail() -> web::Mail {
    let configured = model::SmtpServer {
        host: "relay.example.com".to_owned(),
        port: None,
        security: model::SmtpSecurity::StartTls,
        username: None,
        password: None,
        password_is_lost: false,
        from: "gazer@example.com".to_owned(),
    };
    let tests = web::TestMails::new(async |to: String| match to.as_str() {
        "nobody@example.com" => Err("550 no such user here".to_owned()),
        _ => Ok("250 queued".to_owned()),
    });
    web::Mail { configured: Some(configured), tests }
}

/// Names of the inside, one of them with an address of the outside too; all others lead nowhere.
fn names() -> web::Names {
    let addresses = |list: &[&str]| list.iter().map(|address| address.parse().unwrap()).collect();
    let known = [
        ("intranet.test", addresses(&["10.0.0.7", "fd00::7"])),
        ("both.test", addresses(&["10.0.0.7", "93.184.215.14"])),
    ];
    web::Names::Known(Arc::new(known.map(|(name, addresses)| (name.to_owned(), addresses)).into()))
}

/// The record of a kill, as the proxy would write it.
pub(crate) fn record(kill: Kill) -> (Incident, Event) {
    let trigger = kill.matches.last().unwrap().call;
    let mut event = Event::new(trigger, kill.agent.clone(), kill.epoch, EventType::KillSwitch, kill.at);
    event.score = Some(kill.score);
    event.incident = Some(kill.incident);
    event.provider = Some("openai".into());
    event.model = Some("gpt-4o".into());
    event.status = Some(400);
    event.block_reason = Some(model::BlockReason::Inactive);
    let evidence = kill.matches.iter().map(|MatchedCall { call, matched, alike }| Evidence {
        call: *call,
        time: Some(kill.at),
        matched: matched.clone(),
        alike: alike.clone(),
        prompt: Some(PROMPT.into()),
        tool_calls: None,
        tool_results: None,
        response: None,
        request_body: Some(PROMPT.as_bytes().to_vec()),
        response_body: (*call != trigger).then(|| b"{\"answer\":\"\xff\"}".to_vec()),
        truncated: false,
        missing: None,
    });
    let incident = Incident {
        evidence: evidence.collect(),
        kill: kill.clone(),
        state: IncidentState::Open,
        provider: "openai".into(),
        model: Some("gpt-4o".into()),
        conversation: Some("one".into()),
    };
    (incident, event)
}

/// A request to this server, without a credential.
pub(crate) fn request(method: Method, path: &str) -> axum::http::request::Builder {
    Request::builder().method(method).uri(path).header("host", "127.0.0.1:18880")
}

/// A form that a browser sends.
pub(crate) fn form(path: &str, body: &str) -> Request<Body> {
    let request = request(Method::POST, path).header("content-type", "application/x-www-form-urlencoded");
    request.body(Body::from(body.to_owned())).unwrap()
}
