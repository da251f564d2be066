//! The client of the API: commands use it to talk to a running server.

pub(crate) mod alerts;

use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::exit::{Exit, Failure};
use crate::tls::{ClientIdentity, Trust};

/// The server recognises our own commands by this.
const USER_AGENT: &str = concat!("agentgazer/", env!("CARGO_PKG_VERSION"));

const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends HTTP and HTTPS requests as they are.
#[derive(Clone, Debug)]
pub(crate) struct Http(hyper_util::client::legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

impl Http {
    /// A client that trusts the certificates of `trust`. `SSL_CERT_FILE` replaces those of the
    /// system.
    pub(crate) fn new(trust: &Trust) -> anyhow::Result<Http> {
        Http::with_identity(trust, None)
    }

    /// The same, with a certificate for servers that ask for one.
    pub(crate) fn with_identity(trust: &Trust, identity: Option<ClientIdentity<'_>>) -> anyhow::Result<Http> {
        let mut tls = trust.client_config()?;
        identity.map_or(Ok(()), |identity| identity.add_to(&mut tls))?;
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        Ok(Http(hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build(https.wrap_connector(tcp))))
    }

    /// Sends one request and reads the whole answer.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> anyhow::Result<Response<Bytes>> {
        let exchange = async {
            let (head, body) = self.0.request(request).await?.into_parts();
            Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
        };
        tokio::time::timeout(TIMEOUT, exchange).await?
    }
}

/// A server and the token for it.
#[derive(Debug)]
pub(crate) struct Client {
    http: Http,
    url: String,
    token: SecretString,
}

/// A page of a list with its items as raw JSON.
#[derive(Deserialize)]
struct Page {
    items: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
}

/// An `application/problem+json` body.
#[derive(Default, Deserialize)]
struct Problem {
    title: Option<String>,
    detail: Option<String>,
}

impl Client {
    /// A client of the server at `url`, whose certificate must match `trust`.
    pub(crate) fn new(url: &str, token: SecretString, trust: &Trust) -> Result<Client, Failure> {
        if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
            let message = format!("the server's address must start with http:// or https://, not {url:?}");
            return Err(Failure::new(Exit::Usage, message));
        }
        let http = Http::new(trust).map_err(|error| Failure { exit: Exit::Usage, error })?;
        Ok(Client { http, url: url.trim_end_matches('/').to_owned(), token })
    }

    /// The body at `path`, unchanged.
    pub(crate) async fn get(&self, path: &str) -> Result<String, Failure> {
        self.call(Method::GET, path, String::new()).await
    }

    /// Sends a change to `path`.
    pub(crate) async fn change(&self, method: Method, path: &str, body: &serde_json::Value) -> Result<String, Failure> {
        self.call(method, path, body.to_string()).await
    }

    /// Deletes `path`.
    pub(crate) async fn delete(&self, path: &str) -> Result<(), Failure> {
        self.call(Method::DELETE, path, String::new()).await.map(drop)
    }

    /// The items of a list that comes in one page.
    pub(crate) async fn items(&self, path: &str) -> Result<Vec<Box<RawValue>>, Failure> {
        let page: Page = read(&self.get(path).await?)?;
        Ok(page.items)
    }

    /// All items of a list, page by page.
    pub(crate) async fn list(&self, path: &str, query: &str) -> Result<Vec<Box<RawValue>>, Failure> {
        let mut items = Vec::new();
        let mut cursor = String::new();
        loop {
            let page: Page = read(&self.get(&format!("{path}?limit=500{query}{cursor}")).await?)?;
            items.extend(page.items);
            match page.next_cursor {
                Some(next) => cursor = format!("&cursor={}", percent_encoded(&next)),
                None => return Ok(items),
            }
        }
    }

    async fn call(&self, method: Method, path: &str, body: String) -> Result<String, Failure> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token.expose_secret()))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, USER_AGENT)
            .body(Full::from(body))
            .map_err(|error| Failure::new(Exit::Usage, format!("{} is no address of a server: {error}", self.url)))?;
        let response = self.http.send(request).await.map_err(|error| self.unreachable(&error))?;
        let text = String::from_utf8_lossy(response.body()).into_owned();
        if response.status().is_success() { Ok(text) } else { Err(refused(response.status(), &text)) }
    }

    fn unreachable(&self, error: &anyhow::Error) -> Failure {
        let (url, cause) = (&self.url, error.root_cause());
        let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
        let message = if causes.any(is_failed_handshake) {
            format!(
                "no TLS connection to {url}: say http:// if the server has no certificate, \
                 or which authority to trust with --ca ({cause})"
            )
        } else {
            format!("no server at {url}: start one with `agentgazer start`, or say where it is with --url ({cause})")
        };
        Failure::new(Exit::Unreachable, message)
    }
}

/// Whether something answers, but not in TLS or with a certificate that is not trusted. The
/// connector wraps the error of the handshake, which is invalid data.
fn is_failed_handshake(error: &io::Error) -> bool {
    let wrapped = error.get_ref().and_then(|inner| inner.downcast_ref::<io::Error>());
    error.kind() == io::ErrorKind::InvalidData || wrapped.is_some_and(is_failed_handshake)
}

/// Reads an answer of the server.
pub(crate) fn read<T: DeserializeOwned>(json: &str) -> Result<T, Failure> {
    serde_json::from_str(json)
        .map_err(|error| Failure::new(Exit::Failed, format!("the server's answer cannot be understood: {error}")))
}

const WRONG_TOKEN: &str = "the server refused this token: give the right one with --token or AGENTGAZER_TOKEN";

/// The error for a refused request.
fn refused(status: StatusCode, body: &str) -> Failure {
    let problem: Problem = serde_json::from_str(body).unwrap_or_default();
    let message = problem.detail.or(problem.title).map(|message| crate::text::printable(&message));
    let message = message.unwrap_or_else(|| format!("the server answered {status}"));
    let message = if status == StatusCode::UNAUTHORIZED { WRONG_TOKEN.to_owned() } else { message };
    Failure::new(Exit::of_status(status), message)
}

/// Encodes `text` for a query.
pub(crate) fn percent_encoded(text: &str) -> String {
    let encode = |byte: u8| {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_the_server_is_reported() {
        let check = |status: StatusCode, body: &str, exit: Exit, message: &str| {
            let failure = refused(status, body);
            assert_eq!((failure.exit, failure.error.to_string().as_str()), (exit, message));
        };
        let problem = r#"{"title":"Not Found","detail":"no agent is called \u001b[31mx"}"#;
        check(StatusCode::NOT_FOUND, problem, Exit::NotFound, "no agent is called [31mx");
        check(StatusCode::CONFLICT, r#"{"title":"Conflict"}"#, Exit::Refused, "Conflict");
        check(StatusCode::UNAUTHORIZED, problem, Exit::Refused, WRONG_TOKEN);
        check(StatusCode::BAD_GATEWAY, "<html>", Exit::Failed, "the server answered 502 Bad Gateway");
    }

    #[test]
    fn cursor_is_percent_encoded() {
        assert_eq!(percent_encoded("a+b/c=&d ü"), "a%2Bb%2Fc%3D%26d%20%C3%BC");
    }

    #[test]
    fn server_url_has_a_scheme() {
        let client = |url: &str| Client::new(url, SecretString::from("t"), &Trust::System).map(|client| client.url);
        assert_eq!(client("http://127.0.0.1:1/").ok().as_deref(), Some("http://127.0.0.1:1"));
        assert_eq!(client("https://example.com/").ok().as_deref(), Some("https://example.com"));
        assert_eq!(client("127.0.0.1:1").err().map(|failure| failure.exit), Some(Exit::Usage));
    }
}
