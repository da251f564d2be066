//! A plain client: status, headers and bytes as received.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;

/// A client. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Http(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

/// One response, whole.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// Whether the call was refused because its agent is inactive.
    pub(crate) fn is_inactive_response(&self) -> bool {
        // 403 in the format of Anthropic.
        matches!(self.status.as_u16(), 400 | 403) && self.header("x-agentgazer-blocked") == "inactive"
    }
}

impl Http {
    pub(crate) fn new() -> Http {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        Http::with_tls(tls.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
    }

    /// A client that speaks https with `tls`.
    pub(crate) fn with_tls(tls: ClientConfig) -> Http {
        let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().build();
        Http(Client::builder(TokioExecutor::new()).build(https))
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer, String> {
        let response = self.0.request(request).await.map_err(|error| format!("{error:?}"))?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| format!("{error:?}"))?.to_bytes();
        Ok(Answer { status: head.status, headers: head.headers, body })
    }

    /// Sends JSON.
    pub(crate) async fn json(
        &self,
        method: Method,
        url: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Result<Answer, String> {
        let mut request = Request::builder().method(method).uri(url).header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = body.map(|value| Bytes::from(value.to_string())).unwrap_or_default();
        self.send(request.body(Full::new(body)).unwrap()).await
    }
}
