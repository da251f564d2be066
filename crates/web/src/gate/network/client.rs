//! The client of a connection, as the listener knows it.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;

/// The client of a connection. The listener adds it to the extensions of each request. All clones
/// share one state.
#[derive(Clone, Debug)]
pub struct Client {
    address: IpAddr,
    authenticated: Arc<AtomicBool>,
    /// The trusted proxy that it comes through.
    proxy: Option<Proxy>,
}

#[derive(Clone, Copy, Debug)]
struct Proxy {
    /// Whether the proxy was called over TLS.
    is_over_tls: bool,
}

impl Client {
    /// A client that has not authenticated yet.
    pub fn new(address: IpAddr) -> Client {
        Client { address, authenticated: Arc::default(), proxy: None }
    }

    /// Whether it has authenticated on this connection, by the token or an open session.
    pub fn is_authenticated(&self) -> bool {
        self.authenticated.load(Ordering::Relaxed)
    }

    /// The client that sent the request with these extensions.
    pub(crate) fn of(extensions: &Extensions) -> Client {
        // A router that is called without a listener, as in tests, has local clients only.
        let local = || Client::new(IpAddr::V4(Ipv4Addr::LOCALHOST));
        extensions.get().cloned().unwrap_or_else(local)
    }

    /// The client at `address`, behind a trusted proxy that is this client.
    pub(in crate::gate) fn behind_proxy(self, address: IpAddr, is_over_tls: bool) -> Client {
        Client { address, proxy: Some(Proxy { is_over_tls }), ..self }
    }

    /// Whether a trusted proxy sent its request.
    pub(in crate::gate) fn is_behind_proxy(&self) -> bool {
        self.proxy.is_some()
    }

    /// Whether a trusted proxy speaks TLS with it.
    pub(in crate::gate) fn is_over_tls(&self) -> bool {
        self.proxy.is_some_and(|proxy| proxy.is_over_tls)
    }

    pub(crate) fn address(&self) -> IpAddr {
        self.address
    }

    /// Records that it has authenticated.
    pub fn set_authenticated(&self) {
        self.authenticated.store(true, Ordering::Relaxed);
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Infallible> {
        Ok(Client::of(&parts.extensions))
    }
}
