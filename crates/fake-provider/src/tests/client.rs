//! An HTTP client for the tests.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// Sends requests and reads whole answers.
pub(super) struct Http(Client<HttpConnector, Full<Bytes>>);

impl Http {
    pub(super) fn new() -> Http {
        Http(Client::builder(TokioExecutor::new()).build_http())
    }

    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> anyhow::Result<Response<Bytes>> {
        let (head, body) = self.0.request(request).await?.into_parts();
        Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
    }
}
