//! Sends calls to providers over pooled connections. HTTP/1.1 only: on one HTTP/2 connection per
//! host long streams would block each other.

use std::error::Error;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use tower::Service;

use super::connections::Connection;
use super::destination::Destination;
use crate::config::ProxyConfig;
use crate::error::Stop;
use crate::upload::{BrokenUpload, Outgoing};

/// How often a silent connection is probed.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// Sends calls to providers.
pub(crate) struct UpstreamClient {
    https: HttpsConnector<HttpConnector>,
    connect_timeout: Duration,
    first_byte_timeout: Duration,
}

impl UpstreamClient {
    pub(crate) fn new(config: &ProxyConfig) -> UpstreamClient {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEP_ALIVE));
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls_config())
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let ProxyConfig { connect_timeout, first_byte_timeout, .. } = *config;
        UpstreamClient { https, connect_timeout, first_byte_timeout }
    }

    /// Sends `request` and waits until its answer begins; calls `on_sending` once there is a
    /// connection. Return the connection when the answer is complete.
    pub(crate) async fn send(
        &self,
        destination: &Destination,
        mut request: Request<Outgoing>,
        mut on_sending: impl FnMut(),
    ) -> Result<(Response<Incoming>, Connection), Stop> {
        let upload = request.body().progress();
        loop {
            let mut connection = match destination.connections().take() {
                Some(waiting) => waiting,
                // Boxed, because it is large and rarely needed: otherwise it would enlarge the
                // future of every call.
                None => Box::pin(self.connect(destination)).await?,
            };
            on_sending();
            let answer = pin!(connection.send(request));
            let begun = connection.wait(answer, upload.as_deref(), self.first_byte_timeout).await;
            let mut failed = match begun.ok_or_else(timed_out)? {
                Ok(answer) => return Ok((answer, connection)),
                Err(failed) => failed,
            };
            request = match failed.take_message() {
                // The provider closed it while it was idle: use another one.
                Some(unsent) if connection.is_used => unsent,
                _ => return Err(send_error(&failed.into_error())),
            };
        }
    }

    /// Opens a connection, with one timeout for resolution, connection and handshake together.
    async fn connect(&self, destination: &Destination) -> Result<Connection, Stop> {
        let connecting = self.https.clone().call(destination.origin().clone());
        let stream = match tokio::time::timeout(self.connect_timeout, connecting).await {
            Ok(connected) => connected.map_err(|error| unreachable(root_cause(&*error)))?,
            Err(_) => return Err(unreachable("it took too long to connect".to_owned())),
        };
        let (sender, connection) = http1::handshake(stream).await.map_err(|error| unreachable(root_cause(&error)))?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to a provider ended early");
            }
        });
        Ok(destination.connections().opened(sender))
    }
}

/// The machine's certificates, or Mozilla's if there are none, as in minimal container images.
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

fn unreachable(why: String) -> Stop {
    Stop::Upstream(StatusCode::BAD_GATEWAY, format!("the provider could not be reached: {why}"))
}

/// No answer came: the client's fault if its own body broke off, otherwise the provider's.
fn send_error(error: &hyper::Error) -> Stop {
    let mut cause = error.source();
    while let Some(source) = cause {
        if let Some(broken) = source.downcast_ref::<BrokenUpload>() {
            return broken.into();
        }
        cause = source.source();
    }
    let message = format!("the provider closed the connection without an answer: {}", root_cause(error));
    Stop::Upstream(StatusCode::BAD_GATEWAY, message)
}

/// The innermost cause, which has the useful message.
fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
