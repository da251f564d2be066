//! Agent keys in a request: where clients put their provider key. They are recognised by their
//! prefix, and never sent to a provider.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::HeaderName;
use model::{KeyRefusal, KeyText};

use super::route::percent_decoded;
use crate::headers::CREDENTIALS;

/// The agent key that a request came with, if any. The same key may stand in several places; two
/// different ones are refused, since either could be the one that counts.
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

/// Removes every header that has an agent key in it, whatever its name is.
pub(crate) fn strip_headers(headers: &mut HeaderMap) {
    let with_key = headers.iter().filter(|(_, value)| key_in(value.as_bytes()).is_some());
    for name in with_key.map(|(name, _)| name.clone()).collect::<Vec<HeaderName>>() {
        headers.remove(name);
    }
}

/// Whether a parameter of the query has an agent key in it.
pub(crate) fn is_in_parameter(parameter: &str) -> bool {
    // Every encoding of the prefix has one of these.
    let may_have = parameter.contains(KeyText::PREFIX) || parameter.contains('%');
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

/// The first agent key in `text`: the prefix where a word begins, and the word to its end.
fn key_in(text: &[u8]) -> Option<&str> {
    let prefix = KeyText::PREFIX.as_bytes();
    let is_in_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let begins = |start: &usize| text[*start..].starts_with(prefix) && !text[..*start].last().is_some_and(is_in_word);
    let start = (0..(text.len() + 1).saturating_sub(prefix.len())).find(begins)?;
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
