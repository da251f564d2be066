//! A proxy on a real socket, with a recorder that the test reads.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use guard::{Guard, GuardConfig};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use model::{
    Action, AllowedHosts, Clock, Counting, Event, Format, KillSwitch, Provider, Providers, Record, RecorderHandle,
    RecorderInbox,
};
use proxy::{Proxy, ProxyConfig};
use tokio::net::{TcpListener, TcpStream};

use crate::provider::FakeProvider;

pub const CHAT: &str = "/agents/bot/openai/v1/chat/completions";

/// A proxy with access to its state for tests.
pub struct TestProxy {
    pub address: SocketAddr,
    pub guard: Arc<Guard>,
    pub inbox: RecorderInbox,
    pub inner: Proxy,
    pub providers: Providers,
}

pub fn config() -> ProxyConfig {
    ProxyConfig {
        hosts: AllowedHosts::new(IpAddr::V4(Ipv4Addr::LOCALHOST), []),
        allow_origins: Vec::new(),
        key_requirement: model::KeyRequirement::default(),
        keys: model::AgentKeys::default(),
        own_tokens: proxy::OwnTokens::default(),
        refusal_status: wire::RefusalStatus::default(),
        max_request_body: 1 << 20,
        bodies_in_flight: 64 << 20,
        connect_timeout: Duration::from_secs(5),
        first_byte_timeout: Duration::from_secs(30),
        idle_timeout: Duration::from_secs(30),
        evidence_budget: 64 << 20,
        copy_evidence: false,
        kill_commit_timeout: Duration::from_secs(30),
        prices: Arc::new(wire::Prices::builtin()),
        include_usage: Default::default(),
        shared: None,
    }
}

/// A kill switch that is on.
pub fn enabled_kill_switch(action: Action) -> KillSwitch {
    KillSwitch { enabled: true, threshold: 5.0, action, counting: Counting::Literal, ..Default::default() }
}

impl TestProxy {
    pub async fn new(provider: &FakeProvider) -> TestProxy {
        TestProxy::with(provider, config(), KillSwitch::default()).await
    }

    pub async fn with(provider: &FakeProvider, config: ProxyConfig, kill_switch: KillSwitch) -> TestProxy {
        TestProxy::at(provider, config, kill_switch, Clock::System).await
    }

    /// A proxy with `clock`.
    pub async fn at(provider: &FakeProvider, config: ProxyConfig, kill_switch: KillSwitch, clock: Clock) -> TestProxy {
        let base = format!("http://{}", provider.address);
        let formats = [("openai", Format::Openai), ("anthropic", Format::Anthropic), ("google", Format::Gemini)];
        let providers = formats.map(|(name, format)| Provider::new(name, &base, format).unwrap());
        let providers = Providers::new(providers);
        let guard = Arc::new(Guard::new(GuardConfig { defaults: kill_switch, ..Default::default() }));
        let (recorder, inbox) = RecorderHandle::new(10_000);
        let proxy = Proxy::new(config, Arc::clone(&guard), providers.clone(), recorder, clock);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(accept(listener, proxy.clone()));
        TestProxy { address, guard, inbox, inner: proxy, providers }
    }

    /// Sends `request` on a connection of its own and hands back the response as it begins.
    pub async fn begin(&self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        begin(self.address, request).await
    }

    /// Sends `request` and reads the whole response.
    pub async fn call(&self, request: Request<Full<Bytes>>) -> Response<Bytes> {
        collect(self.begin(request).await).await
    }

    /// Asks `prompt` and reads the whole response.
    pub async fn ask(&self, prompt: &str) -> Response<Bytes> {
        self.call(post(CHAT, question(prompt))).await
    }

    /// Makes a request that the proxy answers itself and does not record. By then the proxy has
    /// finished its pending work.
    pub async fn make_other_call(&self) {
        let response = self.call(post("/no-agent", "")).await;
        assert_eq!(response.status(), 404);
    }

    /// The next event that was recorded.
    pub async fn event(&mut self) -> Event {
        Arc::unwrap_or_clone(self.inbox.events.recv().await.unwrap())
    }

    /// The next kill or observed incident that was recorded.
    pub async fn record(&mut self) -> Record {
        self.inbox.records.recv().await.unwrap()
    }
}

async fn accept(listener: TcpListener, proxy: Proxy) {
    while let Ok((stream, _)) = listener.accept().await {
        stream.set_nodelay(true).unwrap();
        let proxy = proxy.clone();
        let service = service_fn(move |request| {
            let proxy = proxy.clone();
            async move { Ok::<_, std::convert::Infallible>(proxy.handle(request, Ipv4Addr::LOCALHOST.into()).await) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service);
        tokio::spawn(connection);
    }
}

pub async fn begin(address: SocketAddr, request: Request<Full<Bytes>>) -> Response<Incoming> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender.send_request(request).await.unwrap()
}

pub async fn collect(response: Response<Incoming>) -> Response<Bytes> {
    let (parts, body) = response.into_parts();
    Response::from_parts(parts, body.collect().await.unwrap().to_bytes())
}

/// The bytes that arrive before the body ends or breaks, and whether it broke.
pub async fn read_until_end(mut body: Incoming) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Err(_) => return (bytes, true),
        }
    }
    (bytes, false)
}

/// A request with the headers that every client sends.
pub fn post(path: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post(path)
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Full::new(body.into()))
        .unwrap()
}

/// A Chat Completions request that asks `prompt`.
pub fn question(prompt: &str) -> String {
    serde_json::json!({"model": "gpt-5-mini", "messages": [{"role": "user", "content": prompt}]}).to_string()
}

/// The same, to be answered as a stream.
pub fn streamed_question(prompt: &str) -> String {
    serde_json::json!({"model": "gpt-5-mini", "stream": true, "messages": [{"role": "user", "content": prompt}]})
        .to_string()
}

/// The body of a refusal.
pub fn json(response: &Response<Bytes>) -> serde_json::Value {
    serde_json::from_slice(response.body()).unwrap()
}

/// A prompt too long to count as a short "continue".
pub const PROMPT: &str =
    "Please look into why the nightly import of the customer table fails and repair whatever is broken";
