//! Extracts the issuer's token from a request, from any place of a provider key.

use http::header::{AUTHORIZATION, HeaderName};
use http::uri::PathAndQuery;
use http::{HeaderMap, Request, Uri};
use identity::{AgentTokens, find_token};
use proxy::AgentToken;
use wire::percent_decoded;

/// The headers in which clients send their credential for a provider.
const PLACES: [HeaderName; 4] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("api-key"),
];

/// `request` without the token, with the result of its verification.
pub(crate) async fn admit<B>(tokens: &AgentTokens, mut request: Request<B>) -> Request<B> {
    let in_query = take_from_query(tokens.issuer(), request.uri_mut());
    if let Some(token) = take_from_headers(tokens.issuer(), request.headers_mut()).or(in_query) {
        let verified = match tokens.verify(&token).await {
            Ok(named) => AgentToken::Verified { agent: named.agent, subject: named.subject },
            Err(why) => AgentToken::Refused(why.to_string()),
        };
        request.extensions_mut().insert(verified);
    }
    request
}

/// Removes the issuer's tokens from the headers of a provider key, and returns the first one. If
/// there are two different ones, the first must be valid. The proxy drops those in other headers.
fn take_from_headers(issuer: &str, headers: &mut HeaderMap) -> Option<String> {
    let mut found = None;
    for place in PLACES {
        let mut values = headers.get_all(&place).iter();
        let token = values.find_map(|value| token_in(&String::from_utf8_lossy(value.as_bytes()), issuer));
        if token.is_some() {
            headers.remove(place);
        }
        found = found.or(token);
    }
    found
}

fn token_in(text: &str, issuer: &str) -> Option<String> {
    find_token(text, issuer).map(str::to_owned)
}

/// The same for the parameter of the query that holds a provider key.
fn take_from_query(issuer: &str, uri: &mut Uri) -> Option<String> {
    let parameters = || uri.query().into_iter().flat_map(|query| query.split('&'));
    let token = |parameter: &str| {
        let (name, value) = parameter.split_once('=')?;
        if percent_decoded(name) == "key" { token_in(&percent_decoded(value), issuer) } else { None }
    };
    let found = parameters().find_map(token)?;
    let kept: Vec<&str> = parameters().filter(|parameter| token(parameter).is_none()).collect();
    let mut target = uri.path().to_owned();
    if !kept.is_empty() {
        target = format!("{target}?{}", kept.join("&"));
    }
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = PathAndQuery::try_from(target).ok();
    *uri = Uri::from_parts(parts).unwrap_or_default();
    Some(found)
}
