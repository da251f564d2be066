//! The only way out for calls that the server makes on its own. It resolves a name itself, refuses
//! private addresses unless they are allowed, and connects to the address that it checked, so that
//! DNS rebinding has no effect. It follows no redirects and reads only the beginning of an answer.

mod fetcher;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_rustls::ConfigBuilderExt;
use hyper_util::rt::TokioIo;
use model::{Target, TargetHost, is_global};
use rustls::ClientConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;

pub use fetcher::Fetcher;

/// How much of an answer is read.
const MAX_ANSWER: usize = 64 * 1024;
/// How long one call may take, from the look-up to the end of the answer.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How long one address of several may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The client for outgoing calls.
#[derive(Clone, Debug)]
pub struct Egress {
    reach: Reach,
    resolver: Resolver,
    tls: Arc<ClientConfig>,
    timeout: Duration,
}

/// The addresses that may be called.
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// Public internet addresses.
    Public,
    /// All addresses.
    Any,
    /// This one, as if it were public.
    #[cfg(test)]
    Only(IpAddr),
}

impl Reach {
    fn allows(self, address: IpAddr) -> bool {
        match self {
            Reach::Public => is_global(address),
            Reach::Any => true,
            #[cfg(test)]
            Reach::Only(one) => address == one,
        }
    }
}

/// The source of addresses for a name.
#[derive(Clone, Debug)]
enum Resolver {
    /// The system's resolver.
    System,
    /// One list of addresses after the other, like a name server whose answers change.
    #[cfg(test)]
    Scripted(Arc<std::sync::Mutex<std::collections::VecDeque<Vec<IpAddr>>>>),
}

/// A message to a target.
#[derive(Debug)]
pub struct Post {
    /// The target.
    pub target: Target,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// The answer of a target.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The part of the body that was read.
    pub body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// The target may not be called; a retry would not help.
    #[error("{0}")]
    Refused(String),
    /// The target could not be reached, or did not answer.
    #[error("{0}")]
    Failed(String),
}

impl Egress {
    /// Calls private addresses only if `allow_private`.
    pub fn new(allow_private: bool) -> Egress {
        let reach = if allow_private { Reach::Any } else { Reach::Public };
        Egress { reach, resolver: Resolver::System, tls: Arc::new(tls_config()), timeout: TIMEOUT }
    }

    /// Sends `post` and reads the answer.
    pub async fn post(&self, Post { target, headers, body }: Post) -> Result<Reply, EgressError> {
        let mut request = Request::post(target.path_and_query()).body(Full::new(body)).map_err(failed)?;
        *request.headers_mut() = headers;
        self.send(&target, request).await
    }

    /// Fetches the document at `target`.
    async fn get(&self, target: &Target, token: Option<&str>) -> Result<Reply, EgressError> {
        let mut request = Request::get(target.path_and_query()).header(header::ACCEPT, "application/json");
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        self.send(target, request.body(Full::default()).map_err(failed)?).await
    }

    async fn send(&self, target: &Target, request: Request<Full<Bytes>>) -> Result<Reply, EgressError> {
        let too_long = |_| failed(format!("no answer within {:?}", self.timeout));
        tokio::time::timeout(self.timeout, self.exchange(target, request)).await.map_err(too_long)?
    }

    async fn exchange(&self, target: &Target, mut request: Request<Full<Bytes>>) -> Result<Reply, EgressError> {
        let addresses = self.addresses(target).await?;
        let stream = connect(&addresses, target.port()).await?;
        let host = target.authority().parse().map_err(failed)?;
        request.headers_mut().insert(header::HOST, host);
        if !target.is_https() {
            return send(stream, request).await;
        }
        let name = match target.host() {
            TargetHost::Address(address) => ServerName::IpAddress(address.into()),
            TargetHost::Name(name) => ServerName::try_from(name).map_err(failed)?,
        };
        let encrypted = TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream).await;
        send(encrypted.map_err(|error| failed(format!("no encrypted connection: {error}")))?, request).await
    }

    /// The addresses of a target that may be called.
    async fn addresses(&self, target: &Target) -> Result<Vec<IpAddr>, EgressError> {
        let addresses = match target.host() {
            TargetHost::Address(address) => vec![address],
            TargetHost::Name(name) => self.resolver.look_up(&name).await?,
        };
        self.allowed(addresses)
    }

    /// An allowed address of `host`, which is a name or an address.
    pub async fn address_of_host(&self, host: &str) -> Result<IpAddr, EgressError> {
        let addresses = match host.parse() {
            Ok(address) => vec![address],
            Err(_) => self.resolver.look_up(host).await?,
        };
        let allowed = self.allowed(addresses)?;
        allowed.first().copied().ok_or_else(|| failed("the name of the target leads nowhere"))
    }

    fn allowed(&self, mut addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, EgressError> {
        let Some(first) = addresses.first().copied() else {
            return Err(failed("the name of the target leads nowhere"));
        };
        addresses.retain(|address| self.reach.allows(*address));
        if addresses.is_empty() {
            return Err(EgressError::Refused(format!(
                "the target leads to {first}, which is a private address; --allow-private-targets allows it"
            )));
        }
        Ok(addresses)
    }
}

impl Resolver {
    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, EgressError> {
        match self {
            Resolver::System => {
                let found = tokio::net::lookup_host((name, 0)).await;
                let found =
                    found.map_err(|error| failed(format!("the name of the target cannot be looked up: {error}")))?;
                Ok(found.map(|address| address.ip()).collect())
            }
            #[cfg(test)]
            Resolver::Scripted(script) => {
                let next = script.lock().map(|mut script| script.pop_front()).unwrap_or_default();
                Ok(next.unwrap_or_default())
            }
        }
    }
}

/// Connects to the first of the addresses that answers.
async fn connect(addresses: &[IpAddr], port: u16) -> Result<TcpStream, EgressError> {
    let mut last = failed("the target has no address");
    for address in addresses {
        let connecting = TcpStream::connect(SocketAddr::new(*address, port));
        match tokio::time::timeout(CONNECT_TIMEOUT, connecting).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = failed(format!("no connection: {error}")),
            Err(_) => last = failed("no connection: it took too long"),
        }
    }
    Err(last)
}

/// The task that drives a connection. Dropping this aborts it.
struct ConnectionTask(AbortHandle);

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn send<I>(stream: I, request: Request<Full<Bytes>>) -> Result<Reply, EgressError>
where
    I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(broken)?;
    let _task = ConnectionTask(tokio::spawn(connection).abort_handle());
    let response = sender.send_request(request).await.map_err(broken)?;
    read(response).await
}

/// The beginning of the answer. An answer that breaks off after its head still counts.
async fn read(response: Response<Incoming>) -> Result<Reply, EgressError> {
    let (head, mut incoming) = response.into_parts();
    let mut body = Vec::new();
    while let Some(Ok(frame)) = incoming.frame().await {
        let Some(data) = frame.data_ref() else { continue };
        let room = MAX_ANSWER - body.len();
        body.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() >= room {
            break;
        }
    }
    Ok(Reply { status: head.status, headers: head.headers, body: body.into() })
}

fn failed(why: impl ToString) -> EgressError {
    EgressError::Failed(why.to_string())
}

fn broken(error: hyper::Error) -> EgressError {
    failed(format!("the connection broke: {error}"))
}

/// TLS for a client. It trusts the machine's certificates, or Mozilla's if there are none, as in a
/// bare container image.
pub fn tls_config() -> ClientConfig {
    let builder = || ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let native = builder().with_safe_default_protocol_versions().map(ConfigBuilderExt::with_native_roots);
    if let Ok(Ok(config)) = native {
        return config.with_no_client_auth();
    }
    match builder().with_safe_default_protocol_versions() {
        Ok(builder) => builder.with_webpki_roots().with_no_client_auth(),
        Err(_) => ClientConfig::builder().with_webpki_roots().with_no_client_auth(),
    }
}

#[cfg(test)]
mod tests;
