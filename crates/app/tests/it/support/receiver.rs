//! A receiver of webhooks.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A webhook that it got.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) id: String,
    pub(crate) body: Value,
}

/// Accepts every webhook, after `delay`, with `status`.
pub(crate) struct Receiver {
    pub(crate) url: String,
    received: Arc<watch::Sender<Vec<Received>>>,
    task: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    pub(crate) async fn start(status: StatusCode, delay: Duration) -> Receiver {
        Receiver::saying("thank you", status, delay).await
    }

    /// A receiver that answers with this text.
    pub(crate) async fn saying(text: &str, status: StatusCode, delay: Duration) -> Receiver {
        let said = Bytes::copy_from_slice(text.as_bytes());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let received = Arc::new(watch::Sender::new(Vec::new()));
        let seen = Arc::clone(&received);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let seen = Arc::clone(&seen);
                let said = said.clone();
                let service = service_fn(move |request| {
                    let taken = take(request, Arc::clone(&seen), delay);
                    let mut response = Response::new(Full::new(said.clone()));
                    *response.status_mut() = status;
                    async move {
                        taken.await;
                        Ok::<_, Infallible>(response)
                    }
                });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Receiver { url, received, task }
    }

    /// All webhooks so far, including duplicates.
    pub(crate) fn all(&self) -> Vec<Received> {
        self.received.borrow().clone()
    }

    /// Waits until `enough` accepts what came.
    pub(crate) async fn until(&self, enough: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        let mut received = self.received.subscribe();
        let waited = tokio::time::timeout(Duration::from_secs(300), received.wait_for(|all| enough(all))).await;
        waited.expect("the webhooks came in time").unwrap().clone()
    }
}

/// Stores a webhook, and waits before the answer.
async fn take(request: Request<Incoming>, seen: Arc<watch::Sender<Vec<Received>>>, delay: Duration) {
    let id = request.headers()["webhook-id"].to_str().unwrap().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&body).unwrap();
    seen.send_modify(|all| all.push(Received { id, body }));
    tokio::time::sleep(delay).await;
}
