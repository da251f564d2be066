//! Extracts the issuer's token from a request, from any place of a provider key.

use http::header::{AUTHORIZATION, HeaderName};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Request, Uri};
use identity::AgentTokens;
use proxy::AgentToken;

/// The headers in which clients send their credential for a provider.
const PLACES: [HeaderName; 4] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("api-key"),
];

/// `request` without the token, with the result of its verification.
pub(crate) async fn admit<B>(tokens: &AgentTokens, mut request: Request<B>) -> Request<B> {
    let in_query = take_from_query(tokens, request.uri_mut());
    if let Some(token) = take_from_headers(tokens, request.headers_mut()).or(in_query) {
        let verified = match tokens.verify(&token).await {
            Ok(named) => AgentToken::Verified { agent: named.agent, subject: named.subject },
            Err(why) => AgentToken::Refused(why.to_string()),
        };
        request.extensions_mut().insert(verified);
    }
    request
}

/// Removes every token of the issuer, and returns the first that stands for a provider key. If
/// there are two different ones, the first must be valid.
fn take_from_headers(tokens: &AgentTokens, headers: &mut HeaderMap) -> Option<String> {
    let with_token = headers.iter().filter(|(_, value)| token_in(tokens, value).is_some());
    let names: Vec<HeaderName> = with_token.map(|(name, _)| name.clone()).collect();
    let mut values = PLACES.into_iter().flat_map(|place| headers.get_all(place));
    let found = values.find_map(|value| token_in(tokens, value)).map(str::to_owned);
    for name in names {
        headers.remove(name);
    }
    found
}

/// The token in the value of a header, alone or behind a scheme such as `Bearer`.
fn token_in<'a>(tokens: &AgentTokens, value: &'a HeaderValue) -> Option<&'a str> {
    value.to_str().ok()?.split_ascii_whitespace().last().filter(|credential| tokens.is_for(credential))
}

/// The same for the parameters of the query, where a provider key is `key`.
fn take_from_query(tokens: &AgentTokens, uri: &mut Uri) -> Option<String> {
    let parameters = || uri.query().into_iter().flat_map(|query| query.split('&'));
    let is_token = |parameter: &str| parameter.split_once('=').filter(|(_, value)| tokens.is_for(value)).is_some();
    if !parameters().any(is_token) {
        return None;
    }
    let mut keys = parameters().filter_map(|parameter| parameter.strip_prefix("key="));
    let found = keys.find(|key| tokens.is_for(key)).map(str::to_owned);
    let kept: Vec<&str> = parameters().filter(|parameter| !is_token(parameter)).collect();
    let mut target = uri.path().to_owned();
    if !kept.is_empty() {
        target = format!("{target}?{}", kept.join("&"));
    }
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = PathAndQuery::try_from(target).ok();
    *uri = Uri::from_parts(parts).unwrap_or_default();
    found
}
