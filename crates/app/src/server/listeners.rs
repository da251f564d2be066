//! The two listeners of the server: their sockets, limits and handlers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::Context;
use hyper::body::Incoming;
use identity::AgentTokens;
use proxy::Proxy;
use tokio::net::TcpListener;
use tower::ServiceExt;
use web::Web;

use crate::agent_tokens;
use crate::config::Config;
use crate::listen::{self, InheritedSockets, ListenLimits, Listener, SocketRequest, TimedBody, UnauthenticatedLimits};
use crate::tls::{Side, Tls};

/// How long idle connections of agents stay open after the stop is announced: agents that call at
/// least this often get a last answer on each connection, which tells them to reconnect.
const PROXY_STOP_GRACE: Duration = Duration::from_secs(2);
/// How long idle connections of browsers and commands stay open.
const DASHBOARD_STOP_GRACE: Duration = Duration::from_millis(200);
/// A browser opens at most six connections, and all people behind one address need room. The total
/// must leave enough of the 1,024 file descriptors that many systems allow.
const UNAUTHENTICATED: UnauthenticatedLimits =
    UnauthenticatedLimits { per_network: 128, total: 256, can_authenticate: true };

/// Starts the proxy.
pub(crate) fn start_proxy(socket: TcpListener, config: &Config, tls: Option<&Tls>, proxy: Proxy) -> Listener {
    let max_connections = config.limits.max_connections;
    // One address leaves a quarter of all connections to others. Agents often share one address, so
    // a lower limit would be too little.
    let per_network = (max_connections - max_connections / 4).max(1);
    let by_address = UnauthenticatedLimits { per_network, total: usize::MAX, can_authenticate: false };
    let limits = ListenLimits { unauthenticated: Some(by_address), ..limits(config) };
    let tls = tls.map(|tls| tls.listener(Side::Proxy));
    let proxies = config.access.proxies.clone();
    let client = move |request: &http::Request<Incoming>, peer| proxies.client_of(peer, request.headers());
    let Some(jwt) = config.jwt.config() else {
        return Listener::start(socket, limits, tls, move |request, peer| {
            let client = client(&request, peer);
            proxy.handle(request, client)
        });
    };
    let tokens = AgentTokens::new(jwt, config.alerts.allow_private_targets);
    Listener::start(socket, limits, tls, move |request, peer| {
        let (tokens, proxy, client) = (tokens.clone(), proxy.clone(), client(&request, peer));
        async move { proxy.handle(agent_tokens::admit(&tokens, request).await, client).await }
    })
}

/// Starts the dashboard. Anyone who reaches it may send anything, so bodies have a deadline and
/// unauthenticated clients get few connections.
pub(crate) fn start_dashboard(socket: TcpListener, config: &Config, tls: Option<&Tls>, web: Web) -> Listener {
    let limits =
        ListenLimits { unauthenticated: Some(UNAUTHENTICATED), stop_grace: DASHBOARD_STOP_GRACE, ..limits(config) };
    let router = web::router(web);
    let tls = tls.map(|tls| tls.listener(Side::Dashboard));
    Listener::start(socket, limits, tls, move |request: http::Request<Incoming>, _| {
        let request = request.map(|body| TimedBody::new(body, limits.header_timeout));
        let lateness = request.body().lateness();
        let answered = router.clone().oneshot(request);
        async move { lateness.answer(answered.await.unwrap_or_else(|never| match never {})) }
    })
}

/// The socket of the listener `name`: the inherited one, or a new one.
pub(crate) async fn open_socket(
    config: &Config,
    sockets: &mut InheritedSockets,
    name: &'static str,
) -> anyhow::Result<TcpListener> {
    let (port, key) = if name == "proxy" { (config.proxy_port, "proxy_port") } else { (config.port, "port") };
    let address = SocketAddr::new(config.bind, port);
    if let Some(socket) = sockets.take(SocketRequest { name, address })? {
        return Ok(TcpListener::from_std(socket)?);
    }
    listen::bind(address).await.with_context(|| format!("cannot listen on {address} (setting {key})"))
}

/// The URL of a socket from this machine: a wildcard address cannot be called.
pub(crate) fn url(socket: &TcpListener, scheme: &str) -> std::io::Result<String> {
    let mut address = socket.local_addr()?;
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    Ok(format!("{scheme}://{address}"))
}

fn limits(config: &Config) -> ListenLimits {
    ListenLimits {
        max_header_size: config.limits.max_header_size,
        header_timeout: config.limits.header_timeout,
        idle_timeout: config.limits.idle_timeout,
        max_connections: config.limits.max_connections,
        unauthenticated: None,
        stop_grace: PROXY_STOP_GRACE,
    }
}
