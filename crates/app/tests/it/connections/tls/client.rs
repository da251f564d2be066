//! Clients that speak TLS: plain streams, and HTTP/2 with full control over its streams.

use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::Certificates;

pub(super) type Body = BoxBody<Bytes, std::convert::Infallible>;

/// TLS that trusts the authorities of `trusted`, and presents a certificate of the first one on
/// request.
pub(in crate::connections::tls) fn client_config(trusted: &[&Certificates], shows_certificate: bool) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    for certificates in trusted {
        roots.add(CertificateDer::from_pem_file(certificates.file("ca.pem")).unwrap()).unwrap();
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_root_certificates(roots);
    if !shows_certificate {
        return builder.with_no_client_auth();
    }
    let chain = vec![CertificateDer::from_pem_file(trusted[0].file("client.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(trusted[0].file("client.key.pem")).unwrap();
    builder.with_client_auth_cert(chain, key).unwrap()
}

/// `https://127.0.0.1:1` → `127.0.0.1:1`.
pub(super) fn authority_of(url: &str) -> &str {
    url.strip_prefix("https://").unwrap()
}

/// An encrypted stream to `url`, for the protocol `alpn`.
pub(super) async fn connect(url: &str, mut tls: ClientConfig, alpn: &str) -> std::io::Result<TlsStream<TcpStream>> {
    tls.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    let stream = TcpStream::connect(authority_of(url)).await?;
    stream.set_nodelay(true)?;
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(tls)).connect(name, stream).await
}

/// An HTTP/2 connection.
pub(super) struct Http2 {
    pub(super) sender: SendRequest<Body>,
    /// Ends with the connection.
    pub(super) ended: JoinHandle<hyper::Result<()>>,
    url: String,
}

impl Http2 {
    /// A connection whose streams accept `window` bytes before they are read.
    pub(super) async fn connect(url: &str, certificates: &Certificates, window: u32) -> Http2 {
        let stream = connect(url, client_config(&[certificates], false), "h2").await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(window).max_header_list_size(1 << 20);
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
        Http2 { sender, ended: tokio::spawn(connection), url: url.to_owned() }
    }

    /// A request to `path`.
    pub(super) fn request(&self, method: &str, path: &str) -> http::request::Builder {
        Request::builder().method(method).uri(format!("{}{path}", self.url)).header("content-type", "application/json")
    }

    pub(super) async fn send(&mut self, request: Request<Body>) -> hyper::Result<Response<Incoming>> {
        self.sender.send_request(request).await
    }

    /// Sends a Chat Completions request of the agent `name`.
    pub(super) async fn chat(&mut self, name: &str, body: &serde_json::Value) -> hyper::Result<Response<Incoming>> {
        let request = self.request("POST", &format!("/agents/{name}/openai/v1/chat/completions"));
        self.send(request.body(whole(&body.to_string())).unwrap()).await
    }
}

pub(super) fn whole(text: &str) -> Body {
    Full::new(Bytes::from(text.to_owned())).boxed()
}

pub(super) async fn text(response: Response<Incoming>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}
