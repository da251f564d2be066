//! Agent keys in a request, in the places of a provider key. They are recognised by their prefix,
//! and never sent to a provider. Neither are API tokens, which open the dashboard and count as
//! wrong keys, nor the token of the first start, which is an admin.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::HeaderName;
use model::{KeyRefusal, KeyText};

use super::route::percent_decoded;
use crate::config::OwnToken;
use crate::headers::CREDENTIALS;

/// The prefixes of agent keys and API tokens.
const PREFIXES: [&str; 2] = [KeyText::PREFIX, "agz_"];
/// The underscore is the last byte of a prefix.
const PREFIX_LENGTH: usize = 4;

/// The agent key of a request, if any. The same key may appear in several places; two different
/// ones are refused, because it is ambiguous which one counts.
pub(crate) fn find<'a>(headers: &'a HeaderMap, query: Option<&'a str>) -> Result<Option<Cow<'a, str>>, KeyRefusal> {
    let values = CREDENTIALS.into_iter().flat_map(|name| headers.get_all(name));
    let in_headers = values.filter_map(|value| key_in(value.as_bytes())).map(Cow::Borrowed);
    let in_query = query.into_iter().flat_map(|query| query.split('&')).filter_map(key_parameter);
    let mut found: Option<Cow<'a, str>> = None;
    for key in in_headers.chain(in_query) {
        match &found {
            Some(first) if *first != key => return Err(KeyRefusal::Several),
            _ => found = Some(key),
        }
    }
    Ok(found)
}

/// Removes every header that contains an agent key or an API token, whatever its name.
pub(crate) fn strip_headers(headers: &mut HeaderMap) {
    let with_key = headers.iter().filter(|(_, value)| key_in(value.as_bytes()).is_some());
    for name in with_key.map(|(name, _)| name.clone()).collect::<Vec<HeaderName>>() {
        headers.remove(name);
    }
}

/// Removes the headers for credentials that hold the token of the first start; whether there was
/// one.
pub(crate) fn strip_own_token(headers: &mut HeaderMap, token: &OwnToken) -> bool {
    let mut had_token = false;
    for name in CREDENTIALS {
        if headers.get_all(&name).iter().any(|value| token.is_in(value.as_bytes())) {
            headers.remove(name);
            had_token = true;
        }
    }
    had_token
}

/// Whether a `key=…` of the query is the token of the first start.
pub(crate) fn has_own_token(query: Option<&str>, token: &OwnToken) -> bool {
    let parameters = query.into_iter().flat_map(|query| query.split('&')).filter_map(|it| it.split_once('='));
    let mut keys = parameters.filter(|(name, _)| percent_decoded(name) == "key");
    keys.any(|(_, value)| token.is_in(percent_decoded(value).as_bytes()))
}

/// Whether a parameter of the query contains an agent key.
pub(crate) fn is_in_parameter(parameter: &str) -> bool {
    // Every encoding of the prefix contains one of these.
    let may_have = PREFIXES.iter().any(|prefix| parameter.contains(prefix)) || parameter.contains('%');
    may_have && key_in(percent_decoded(parameter).as_bytes()).is_some()
}

/// Whether a header carries a credential other than an agent key.
pub(crate) fn has_other_credential(headers: &HeaderMap, query: Option<&str>) -> bool {
    let mut parameters = query.into_iter().flat_map(|query| query.split('&'));
    CREDENTIALS.iter().any(|name| headers.contains_key(name))
        || parameters.any(|parameter| parameter.starts_with("key=") && !is_in_parameter(parameter))
}

/// The agent key in a `key=…` of the query.
fn key_parameter(parameter: &str) -> Option<Cow<'_, str>> {
    let (name, value) = parameter.split_once('=')?;
    if percent_decoded(name) != "key" {
        return None;
    }
    match percent_decoded(value) {
        Cow::Borrowed(value) => key_in(value.as_bytes()).map(Cow::Borrowed),
        Cow::Owned(value) => key_in(value.as_bytes()).map(|key| Cow::Owned(key.to_owned())),
    }
}

/// The first agent key in `text`: a word that begins with the prefix.
fn key_in(text: &[u8]) -> Option<&str> {
    let is_in_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    // Every header of every call is searched, and few of them contain an underscore.
    let underscores = text.iter().enumerate().filter(|(_, byte)| **byte == b'_');
    let mut starts = underscores.filter_map(|(place, _)| place.checked_sub(PREFIX_LENGTH - 1));
    let start = starts.find(|start| {
        PREFIXES.iter().any(|prefix| text[*start..].starts_with(prefix.as_bytes()))
            && !text[..*start].last().is_some_and(is_in_word)
    })?;
    let length = text[start..].iter().position(|byte| !is_in_word(byte)).unwrap_or(text.len() - start);
    std::str::from_utf8(&text[start..start + length]).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            headers.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value);
        }
        headers
    }

    #[test]
    fn keys_are_found_where_clients_put_credentials() {
        for (lines, query, expected) in [
            (&[("authorization", "Bearer agk_one")][..], None, Some("agk_one")),
            (&[("authorization", "bearer   agk_one")], None, Some("agk_one")),
            (&[("Authorization", "agk_one")], None, Some("agk_one")),
            (&[("X-API-Key", "agk_one")], None, Some("agk_one")),
            (&[("api-key", "agk_one")], None, Some("agk_one")),
            (&[("x-goog-api-key", "agk_one")], None, Some("agk_one")),
            (&[], Some("alt=sse&key=agk_one"), Some("agk_one")),
            (&[], Some("key=agk%5Fone"), Some("agk_one")),
            (&[], Some("k%65y=%61gk_one&x"), Some("agk_one")),
            (&[("x-api-key", "agk_one"), ("authorization", "Bearer agk_one")], Some("key=agk_one"), Some("agk_one")),
            (&[("x-api-key", "sk-other"), ("authorization", "Bearer agk_one")], None, Some("agk_one")),
            (&[("authorization", "Bearer agk_one\u{fc}")], None, Some("agk_one")),
            (&[("authorization", "Bearer agz_one")], None, Some("agz_one")),
            (&[("authorization", "Bearer sk-agk_one")], None, None),
            (&[("x-other", "agk_one")], Some("keys=agk_one&token=agk_one"), None),
            (&[("authorization", "agk")], Some("key"), None),
        ] {
            let headers = headers(lines);
            assert_eq!(find(&headers, query).unwrap().as_deref(), expected, "{lines:?} {query:?}");
        }
    }

    #[test]
    fn two_different_keys_are_refused() {
        let both = headers(&[("x-api-key", "agk_one"), ("authorization", "Bearer agk_two")]);
        assert_eq!(find(&both, None), Err(KeyRefusal::Several));
        let twice = headers(&[("authorization", "Bearer agk_one"), ("authorization", "Bearer agk_two")]);
        assert_eq!(find(&twice, None), Err(KeyRefusal::Several));
        let one = headers(&[("authorization", "Bearer agk_one")]);
        assert_eq!(find(&one, Some("key=agk_two")), Err(KeyRefusal::Several));
    }

    #[test]
    fn token_of_the_first_start_is_found_where_clients_put_credentials() {
        let token = OwnToken::new(|given| given == b"first token");
        for (lines, expected) in [
            (&[("authorization", "Bearer first token")][..], true),
            (&[("x-api-key", "first token")], true),
            (&[("api-key", "sk-own"), ("x-goog-api-key", " first token")], true),
            (&[("authorization", "Bearer first"), ("x-other", "first token")], false),
            (&[], false),
        ] {
            let mut headers = headers(lines);
            assert_eq!(strip_own_token(&mut headers, &token), expected, "{lines:?}");
            assert!(!headers.iter().any(|(name, value)| name != "x-other" && token.is_in(value.as_bytes())));
        }
        for (query, expected) in [
            (Some("alt=sse&key=first%20token"), true),
            (Some("k%65y=first%20token"), true),
            (Some("key=sk&token=first%20token"), false),
            (None, false),
        ] {
            assert_eq!(has_own_token(query, &token), expected, "{query:?}");
        }
    }

    #[test]
    fn keys_are_stripped_wherever_they_stand() {
        let mut all = headers(&[
            ("authorization", "Bearer agk_one"),
            ("x-api-key", "sk-own"),
            ("cookie", "a=b; key=agk_one"),
            ("accept", "text/html"),
        ]);
        strip_headers(&mut all);
        assert_eq!(all, headers(&[("x-api-key", "sk-own"), ("accept", "text/html")]));
        for (parameter, expected) in [
            ("key=agk_one", true),
            ("token=agk_one", true),
            ("key=%61gk%5fone", true),
            ("key=sk", false),
            ("q=100%25", false),
        ] {
            assert_eq!(is_in_parameter(parameter), expected, "{parameter}");
        }
    }
}
