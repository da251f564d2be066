//! The way to the providers: one pool of connections, HTTP/1.1 only (the pool keeps a single HTTP/2 connection per host,
//! on which long streams would block each other).

use std::error::Error as _;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use tower::Service;

use crate::ProxyConfig;
use crate::error::Stop;
use crate::silence::Silence;
use crate::upload::{BrokenUpload, Outgoing};

/// How many connections to one host are kept for the next call.
const IDLE_CONNECTIONS: usize = 512;
/// How long one is kept: shorter than the usual minute of servers, so that theirs is rarely the side that closes.
const IDLE_TIME: Duration = Duration::from_secs(50);
/// How often a silent connection is probed.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// The way to the providers.
pub(crate) struct Upstream {
    client: Client<Dialler, Outgoing>,
}

impl Upstream {
    pub(crate) fn new(config: &ProxyConfig) -> Upstream {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEP_ALIVE));
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls_config())
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .set_host(false)
            .build(Dialler { https, timeout: config.connect_timeout });
        Upstream { client }
    }

    /// Sends `request` and waits until its answer begins, as long as `silence` allows.
    pub(crate) async fn send(
        &self,
        request: Request<Outgoing>,
        silence: &mut Silence,
    ) -> Result<Response<Incoming>, Stop> {
        let upload = request.body().progress();
        let mut answer = self.client.request(request);
        poll_fn(|cx| {
            if let Poll::Ready(answer) = Pin::new(&mut answer).poll(cx) {
                return Poll::Ready(answer.map_err(|error| whose_fault(&error)));
            }
            if let Some(upload) = &upload {
                silence.broken_at(upload.last());
            }
            silence.poll_too_long(cx).map(|()| Err(timed_out()))
        })
        .await
    }
}

/// The machine's certificates, else those of Mozilla: a bare container image has none of its own.
fn tls_config() -> ClientConfig {
    let versions =
        |provider| ClientConfig::builder_with_provider(Arc::new(provider)).with_safe_default_protocol_versions();
    match versions(aws_lc_rs::default_provider()).map(ConfigBuilderExt::with_native_roots) {
        Ok(Ok(config)) => config.with_no_client_auth(),
        _ => ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(rustls::DEFAULT_VERSIONS)
            .map(|builder| builder.with_webpki_roots().with_no_client_auth())
            .unwrap_or_else(|_| ClientConfig::builder().with_webpki_roots().with_no_client_auth()),
    }
}

fn timed_out() -> Stop {
    Stop::Upstream(StatusCode::GATEWAY_TIMEOUT, "the provider did not begin to answer in time".to_owned())
}

/// Who is to blame that no answer came: the client, if its own body broke off, else the provider.
fn whose_fault(error: &Error) -> Stop {
    let mut cause = error.source();
    while let Some(source) = cause {
        if let Some(broken) = source.downcast_ref::<BrokenUpload>() {
            return broken.into();
        }
        cause = source.source();
    }
    let message = match error.is_connect() {
        true => format!("the provider could not be reached: {}", root_cause(error)),
        false => format!("the provider closed the connection without an answer: {}", root_cause(error)),
    };
    Stop::Upstream(StatusCode::BAD_GATEWAY, message)
}

/// The innermost cause, which is the one that says something.
fn root_cause(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Opens connections, each within one limit for the name, the connection and the handshake together.
#[derive(Clone)]
struct Dialler {
    https: HttpsConnector<HttpConnector>,
    timeout: Duration,
}

type Dialling<T> = Pin<Box<dyn Future<Output = Result<T, Box<dyn std::error::Error + Send + Sync>>> + Send>>;

impl Service<Uri> for Dialler {
    type Response = <HttpsConnector<HttpConnector> as Service<Uri>>::Response;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Dialling<Self::Response>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.https.poll_ready(cx)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        let connecting = tokio::time::timeout(self.timeout, self.https.call(address));
        Box::pin(async move { connecting.await.map_err(|_| "it took too long to connect")? })
    }
}
