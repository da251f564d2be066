//! Takes the token of the issuer out of a request, wherever clients put the key of a provider.

use http::header::{AUTHORIZATION, HeaderName};
use http::{HeaderMap, Request};
use proxy::AgentToken;

use super::JwtVerifier;

/// Where clients put their credential for a provider.
const PLACES: [HeaderName; 4] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("api-key"),
];

impl JwtVerifier {
    /// `request` without the token, and with what it says.
    pub(crate) async fn admit<B>(&self, mut request: Request<B>) -> Request<B> {
        if let Some(token) = self.take(request.headers_mut()) {
            let said = match self.verify(&token).await {
                Ok(agent) => AgentToken::Verified(agent),
                Err(why) => AgentToken::Refused(why.to_string()),
            };
            request.extensions_mut().insert(said);
        }
        request
    }

    /// Removes every token of the issuer, and returns the first. With two different ones the first
    /// must hold for itself.
    fn take(&self, headers: &mut HeaderMap) -> Option<String> {
        let mut found = None;
        for place in PLACES {
            let values = headers.get_all(&place).iter().filter_map(|value| value.to_str().ok());
            let token = values.map(without_scheme).find(|credential| self.is_for(credential)).map(str::to_owned);
            if token.is_some() {
                headers.remove(&place);
            }
            found = found.or(token);
        }
        found
    }
}

fn without_scheme(value: &str) -> &str {
    match value.split_once(' ') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bearer") => rest.trim(),
        _ => value.trim(),
    }
}
