//! Extracts the issuer's token from a request, from any place of a provider key.

use http::header::{AUTHORIZATION, HeaderName};
use http::{HeaderMap, Request};
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
    if let Some(token) = take(tokens, request.headers_mut()) {
        let said = match tokens.verify(&token).await {
            Ok(named) => AgentToken::Verified { agent: named.agent, subject: named.subject },
            Err(why) => AgentToken::Refused(why.to_string()),
        };
        request.extensions_mut().insert(said);
    }
    request
}

/// Removes every token of the issuer, and returns the first. If there are two different ones, the
/// first must be valid.
fn take(tokens: &AgentTokens, headers: &mut HeaderMap) -> Option<String> {
    let mut found = None;
    for place in PLACES {
        let values = headers.get_all(&place).iter().filter_map(|value| value.to_str().ok());
        let token = values.map(without_scheme).find(|credential| tokens.is_for(credential)).map(str::to_owned);
        if token.is_some() {
            headers.remove(&place);
        }
        found = found.or(token);
    }
    found
}

fn without_scheme(value: &str) -> &str {
    match value.split_once(' ') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bearer") => rest.trim(),
        _ => value.trim(),
    }
}
