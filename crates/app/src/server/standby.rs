//! Waits for the right to write to a PostgreSQL database, and reports meanwhile that this server is
//! a standby.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use store::{StoreConfig, WriterClaim};
use tokio::net::TcpListener;

/// How often it is tried. Together with the time that the database needs to notice a dead server, a
/// fail-over takes less than ten seconds.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// The longest connection to a standby: its answers are short.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);

const STANDBY: &str = "standby: another server writes to the database; this one takes over when that ends";

/// Takes the right to write. While another server has it, `dashboard` answers that this one is not
/// ready. The answer is unencrypted even if TLS is configured, because it contains nothing else.
pub(super) async fn wait(config: &StoreConfig, dashboard: &TcpListener) -> anyhow::Result<WriterClaim> {
    // Before the lock is taken: such a pooler would hold it forever, and no server could start
    // again.
    config.refuse_pooler().await?;
    if let Some(claim) = config.claim_writer().await? {
        return Ok(claim);
    }
    tracing::warn!("{STANDBY}");
    let claim = tokio::select! {
        claim = claim(config) => claim,
        never = answer_all(dashboard) => match never {},
    };
    tracing::info!("this server writes to the database now");
    Ok(claim)
}

/// Retries for ever: a standby outlives a database that is down.
async fn claim(config: &StoreConfig) -> WriterClaim {
    loop {
        tokio::time::sleep(RETRY_INTERVAL).await;
        match config.claim_writer().await {
            Ok(Some(claim)) => return claim,
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "the database cannot be asked who writes"),
        }
    }
}

async fn answer_all(dashboard: &TcpListener) -> Infallible {
    loop {
        let Ok((stream, _)) = dashboard.accept().await else {
            tokio::time::sleep(RETRY_INTERVAL).await;
            continue;
        };
        tokio::spawn(async move {
            let mut server = hyper::server::conn::http1::Builder::new();
            let serving = server.keep_alive(false).serve_connection(TokioIo::new(stream), service_fn(answer));
            let _ = tokio::time::timeout(CONNECTION_TIMEOUT, serving).await;
        });
    }
}

/// Answers alive and not ready.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, body) = match request.uri().path() {
        "/healthz" => (StatusCode::OK, serde_json::json!({"status": "ok"})),
        _ => (StatusCode::SERVICE_UNAVAILABLE, serde_json::json!({"status": "not ready", "reasons": [STANDBY]})),
    };
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    Ok(response)
}
