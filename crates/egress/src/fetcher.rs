//! Fetches small documents, such as the keys of an issuer.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use model::Target;

use crate::{Egress, Post};

/// Fetches small documents that the configuration names, such as the keys of an issuer, with the
/// same address checks as alerts.
#[derive(Clone, Debug)]
pub struct Fetcher(Egress);

impl Fetcher {
    /// Private addresses are called only if `allow_private`.
    pub fn new(allow_private: bool) -> Fetcher {
        Fetcher(Egress::new(allow_private))
    }

    /// The document at `target`, or the reason of the failure.
    pub async fn get(&self, target: &Target) -> Result<Bytes, String> {
        self.read(target, None).await
    }

    /// The document at `target`, with `token` as credential, or the reason of the failure.
    pub async fn get_as(&self, target: &Target, token: &str) -> Result<Bytes, String> {
        self.read(target, Some(token)).await
    }

    /// The answer of `target` to a form, or the reason of the failure.
    pub async fn post_form(
        &self,
        target: &Target,
        headers: HeaderMap,
        form: String,
    ) -> Result<(StatusCode, Bytes), String> {
        let post = Post { target: target.clone(), headers, body: form.into() };
        let reply = self.0.post(post).await.map_err(|error| error.to_string())?;
        Ok((reply.status, reply.body))
    }

    async fn read(&self, target: &Target, token: Option<&str>) -> Result<Bytes, String> {
        let reply = self.0.get(target, token).await.map_err(|error| error.to_string())?;
        match reply.status.is_success() {
            true => Ok(reply.body),
            false => Err(format!("the server answered {}", reply.status)),
        }
    }
}
