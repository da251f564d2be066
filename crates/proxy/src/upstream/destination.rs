//! The destination of a call. A provider's base URL is parsed once, and a call only appends its own
//! path.

use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::{BufMut, BytesMut};
use http::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use http::uri::{Parts, PathAndQuery};
use http::{Request, StatusCode, Uri, Version};
use http_body::Body as _;
use model::{Format, Provider, Providers};
use secrecy::ExposeSecret;

use super::connections::Connections;
use crate::credentials::OwnTokens;
use crate::credentials::agent_key;
use crate::error::Stop;
use crate::headers::{self, X_API_KEY, X_GOOG_API_KEY};
use crate::upload::Outgoing;

/// One provider, ready to be called.
pub(crate) struct Destination {
    provider: Arc<Provider>,
    /// Scheme, host and port to connect to.
    origin: Uri,
    host: HeaderValue,
    base_path: String,
    credential: Option<(HeaderName, HeaderValue)>,
    own_tokens: OwnTokens,
    connections: Arc<Connections>,
}

impl Destination {
    fn new(provider: Arc<Provider>, own_tokens: OwnTokens) -> Option<Destination> {
        let Parts { scheme, authority, path_and_query, .. } = provider.base_url.parse::<Uri>().ok()?.into_parts();
        let authority = authority?;
        let base_path = path_and_query.map(|path| path.path().trim_end_matches('/').to_owned()).unwrap_or_default();
        let host = HeaderValue::from_str(authority.as_str()).ok()?;
        let credential = match &provider.key {
            Some(key) => Some(credential(provider.format, key.expose_secret())?),
            None => None,
        };
        let origin = Uri::builder().scheme(scheme?).authority(authority).path_and_query("/").build().ok()?;
        Some(Destination { origin, host, base_path, credential, own_tokens, connections: Arc::default(), provider })
    }

    /// Scheme, host and port to connect to.
    pub(crate) fn origin(&self) -> &Uri {
        &self.origin
    }

    /// The connections to it.
    pub(crate) fn connections(&self) -> &Arc<Connections> {
        &self.connections
    }

    /// Whether `query` has a secret of ours, which is not forwarded.
    pub(crate) fn drops_from(&self, query: Option<&str>) -> bool {
        let mut parameters = query.into_iter().flat_map(|query| query.split('&'));
        parameters.any(|parameter| agent_key::is_in_parameter(parameter, &self.own_tokens))
    }

    /// Refuses a call whose only credential is an agent key or the token of the first start, which
    /// are never sent to a provider. Ollama needs no credential.
    pub(crate) fn check_credential(&self, headers: &HeaderMap, query: Option<&str>) -> Result<(), Stop> {
        let needs_none = self.credential.is_some() || self.provider.format == Format::Ollama;
        if needs_none || agent_key::has_other_credential(headers, query, &self.own_tokens) {
            return Ok(());
        }
        let message = format!(
            "no key is stored for the provider {name:?}, and neither an agent key nor the token of the dashboard is sent to \
             a provider: store one with PUT /api/providers/{name} or on the Settings page",
            name = self.provider.name
        );
        Err(Stop::Client(StatusCode::UNAUTHORIZED, message))
    }

    /// The base URL of the provider.
    pub(crate) fn base_url(&self) -> &str {
        &self.provider.base_url
    }

    /// The client's request, addressed to `path` of the provider. The headers are edited in place.
    pub(crate) fn request(
        &self,
        path: &str,
        query: Option<&str>,
        mut parts: http::request::Parts,
        body: Outgoing,
    ) -> Result<Request<Outgoing>, Stop> {
        parts.uri = self.uri(path, query)?;
        parts.version = Version::HTTP_11;
        self.readdress(&mut parts.headers);
        if body.size_hint().exact().is_none() {
            // Without it hyper assumes that a GET has no body, and drops it.
            parts.headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        Ok(Request::from_parts(parts, body))
    }

    /// The request target without the host. A key in the query is dropped if a key is stored; a
    /// secret of ours always is.
    fn uri(&self, path: &str, query: Option<&str>) -> Result<Uri, Stop> {
        let drops_key = self.credential.is_some() && self.provider.format == Format::Gemini;
        let mut target =
            BytesMut::with_capacity(self.base_path.len() + path.len() + query.map_or(0, |it| it.len() + 1));
        target.put_slice(self.base_path.as_bytes());
        target.put_slice(path.as_bytes());
        let kept = |parameter: &&str| {
            let is_key = drops_key && parameter.split('=').next() == Some("key");
            !is_key && !agent_key::is_in_parameter(parameter, &self.own_tokens)
        };
        for (index, parameter) in query.into_iter().flat_map(|query| query.split('&').filter(kept)).enumerate() {
            target.put_u8(if index == 0 { b'?' } else { b'&' });
            target.put_slice(parameter.as_bytes());
        }
        PathAndQuery::from_maybe_shared(target.freeze()).map(Uri::from).map_err(|_| {
            Stop::Client(StatusCode::BAD_REQUEST, "this path cannot be forwarded: it is not a valid URL path".into())
        })
    }

    /// Turns a client's headers into those of a request to the provider.
    fn readdress(&self, headers: &mut HeaderMap) {
        headers::drop_hop_by_hop(headers);
        headers::drop_own_cookies(headers);
        headers.insert(HOST, self.host.clone());
        if let Some((name, value)) = &self.credential {
            headers::replace_credential(headers, name, value);
        }
    }
}

/// The header that carries a key in this format.
fn credential(format: Format, key: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = match format {
        Format::Openai | Format::Ollama => (AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {key}"))),
        Format::Anthropic => (X_API_KEY, HeaderValue::from_str(key)),
        Format::Gemini => (X_GOOG_API_KEY, HeaderValue::from_str(key)),
    };
    let mut value = value.ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

/// The destinations of all providers. Each is built at its first call after a change.
pub(crate) struct Destinations {
    providers: Providers,
    own_tokens: OwnTokens,
    /// There are few, so a linear search is faster than hashing the name.
    built: ArcSwap<Vec<Arc<Destination>>>,
}

impl Destinations {
    pub(crate) fn new(providers: Providers, own_tokens: OwnTokens) -> Destinations {
        Destinations { providers, own_tokens, built: ArcSwap::default() }
    }

    /// The provider with this name, if there is one.
    pub(crate) fn provider(&self, name: &str) -> Option<Arc<Provider>> {
        self.providers.get(name)
    }

    /// Whether a key is stored for any provider.
    pub(crate) fn have_keys(&self) -> bool {
        self.providers.have_keys()
    }

    /// The destination of a provider's calls.
    pub(crate) fn get(&self, provider: Option<Arc<Provider>>) -> Result<Arc<Destination>, Stop> {
        let provider = provider.ok_or_else(|| self.unknown())?;
        if provider.key_is_lost {
            return Err(key_is_lost(&provider.name));
        }
        let built = self.built.load();
        match built.iter().find(|destination| Arc::ptr_eq(&destination.provider, &provider)) {
            Some(destination) => Ok(Arc::clone(destination)),
            None => self.build(provider),
        }
    }

    fn build(&self, provider: Arc<Provider>) -> Result<Arc<Destination>, Stop> {
        let name = provider.name.clone();
        let Some(destination) = Destination::new(provider, self.own_tokens.clone()).map(Arc::new) else {
            let message = format!("the base URL or the key of the provider {name:?} cannot be used");
            tracing::error!("{message}");
            return Err(Stop::Us(StatusCode::INTERNAL_SERVER_ERROR, message));
        };
        self.built.rcu(|built| {
            let others = built.iter().filter(|other| other.provider.name != name);
            others.chain([&destination]).cloned().collect::<Vec<_>>()
        });
        Ok(destination)
    }

    fn unknown(&self) -> Stop {
        let known: Vec<String> = self.providers.all().iter().map(|provider| provider.name.clone()).collect();
        let message = format!("there is no provider with this name; known are: {}", known.join(", "));
        Stop::Client(StatusCode::NOT_FOUND, message)
    }
}

/// The client's own credential must not be sent in place of the stored one. The log named the file
/// at start.
fn key_is_lost(name: &str) -> Stop {
    let message = format!(
        "the stored key of the provider {name:?} cannot be read: restore the proxy's key file, or store the key again with \
         PUT /api/providers/{name}"
    );
    Stop::Us(StatusCode::SERVICE_UNAVAILABLE, message)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    fn destination(url: &str, format: Format, key: Option<&str>) -> Destination {
        let mut provider = Provider::new("x", url, format).unwrap();
        provider.key = key.map(Into::into);
        Destination::new(Arc::new(provider), OwnTokens::default()).unwrap()
    }

    #[test]
    fn path_and_query_are_forwarded_unchanged() {
        let check = |base: &str, path: &str, query: Option<&str>, expected: &str| {
            let destination = destination(base, Format::Openai, Some("k"));
            let origin = destination.origin().to_string();
            let uri = destination.uri(path, query).unwrap();
            assert_eq!(format!("{}{uri}", origin.trim_end_matches('/')), expected);
        };
        check("https://api.openai.com", "/v1/models", None, "https://api.openai.com/v1/models");
        check(
            "http://h:81/api/",
            "//a/%2F%zz;b",
            Some("q=a b".replace(' ', "+").as_str()),
            "http://h:81/api//a/%2F%zz;b?q=a+b",
        );
        check("http://h", "/x", Some("key=1&&k"), "http://h/x?key=1&&k");
        check("http://h", "/x", Some(""), "http://h/x?");
    }

    #[test]
    fn a_stored_gemini_key_replaces_the_one_in_the_query() {
        let check = |key: Option<&str>, query: &str, expected: &str| {
            let uri = destination("http://h", Format::Gemini, key).uri("/m", Some(query)).unwrap();
            assert_eq!(uri.to_string(), expected);
        };
        check(Some("ours"), "alt=sse&key=theirs", "/m?alt=sse");
        check(Some("ours"), "key=theirs&alt=sse&keys=1", "/m?alt=sse&keys=1");
        check(Some("ours"), "key=theirs", "/m");
        check(None, "alt=sse&key=theirs", "/m?alt=sse&key=theirs");
    }

    #[test]
    fn each_format_has_its_own_credential() {
        let check = |format: Format, name: &str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer theirs"));
            destination("http://h", format, Some("ours")).readdress(&mut headers);
            assert_eq!(headers.len(), 2);
            assert_eq!(
                (&headers["host"], &headers[name]),
                (&HeaderValue::from_static("h"), &HeaderValue::from_str(value).unwrap())
            );
        };
        check(Format::Openai, "authorization", "Bearer ours");
        check(Format::Ollama, "authorization", "Bearer ours");
        check(Format::Anthropic, "x-api-key", "ours");
        check(Format::Gemini, "x-goog-api-key", "ours");
    }

    #[test]
    fn calls_are_refused_if_the_stored_key_is_lost() {
        let lost = Provider { key_is_lost: true, ..Provider::new("x", "http://a", Format::Openai).unwrap() };
        let destinations = Destinations::new(Providers::new([lost]), OwnTokens::default());
        let Err(stop) = destinations.get(destinations.provider("x")) else { panic!("it must be refused") };
        assert_eq!(stop.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(stop.error().unwrap().contains("PUT /api/providers/x"));
    }

    #[test]
    fn a_changed_provider_takes_effect_at_once() {
        let providers = Providers::new([Provider::new("x", "http://a", Format::Openai).unwrap()]);
        let destinations = Destinations::new(providers.clone(), OwnTokens::default());
        let host = |destinations: &Destinations| {
            let destination = destinations.get(destinations.provider("x"));
            destination.map(|it| it.host.to_str().unwrap().to_owned()).ok()
        };
        assert_eq!(host(&destinations).as_deref(), Some("a"));
        providers.put(Provider::new("x", "http://b", Format::Openai).unwrap());
        assert_eq!(host(&destinations).as_deref(), Some("b"));
        providers.remove("x");
        assert_eq!(host(&destinations), None);
    }
}
