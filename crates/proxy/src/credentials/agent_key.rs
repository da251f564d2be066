//! Agent keys in a request, in the places of a provider key. They are recognised by their prefix,
//! and never sent to a provider. Neither are API tokens, which open the dashboard and count as
//! wrong keys, the token of the first start, which is an admin, nor tokens that name an agent.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, PAD};
use http::HeaderMap;
use http::header::HeaderName;
use model::{KeyRefusal, KeyText};
use wire::percent_decoded;

use super::OwnTokens;
use crate::headers::CREDENTIALS;

/// The prefixes of agent keys and API tokens.
const PREFIXES: [&str; 2] = [KeyText::PREFIX, "agz_"];
/// The underscore is the last byte of a prefix.
const PREFIX_LENGTH: usize = 4;

/// Some clients leave the padding out.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, PAD.with_decode_padding_mode(DecodePaddingMode::Indifferent));
/// A longer user and password are not searched.
const MAX_BASIC: usize = 4096;

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

/// Removes every header that contains a secret of ours, whatever its name. Returns whether one of
/// them was a header for credentials.
pub(crate) fn strip_headers(headers: &mut HeaderMap, tokens: &OwnTokens) -> bool {
    let with_secret = headers.iter().filter(|(_, value)| is_in_header(value.as_bytes(), tokens));
    let names: Vec<HeaderName> = with_secret.map(|(name, _)| name.clone()).collect();
    for name in &names {
        headers.remove(name);
    }
    names.iter().any(|name| CREDENTIALS.contains(name))
}

/// Whether a path contains a secret of ours. A word that only begins like a key may be a name; API
/// tokens have the length of keys.
pub(crate) fn is_in_path(path: &str, tokens: &OwnTokens) -> bool {
    let path = percent_decoded(path);
    keys_in(path.as_bytes()).any(|key| key.len() == KeyText::LENGTH) || tokens.is_in(path.as_bytes())
}

/// Whether a parameter of the query contains a secret of ours.
pub(crate) fn is_in_parameter(parameter: &str, tokens: &OwnTokens) -> bool {
    has_secret(percent_decoded(parameter).as_bytes(), tokens)
}

/// Whether a request carries a credential other than a secret of ours; its headers have none.
pub(crate) fn has_other_credential(headers: &HeaderMap, query: Option<&str>, tokens: &OwnTokens) -> bool {
    let mut parameters = query.into_iter().flat_map(|query| query.split('&'));
    CREDENTIALS.iter().any(|name| headers.contains_key(name))
        || parameters.any(|parameter| parameter.starts_with("key=") && !is_in_parameter(parameter, tokens))
}

/// Whether the value of a header contains a secret of ours, as it stands or encoded as clients
/// encode credentials and cookies.
fn is_in_header(value: &[u8], tokens: &OwnTokens) -> bool {
    has_secret(value, tokens) || has_secret_in_basic(value, tokens) || has_secret_percent_encoded(value, tokens)
}

/// Whether `text` contains an agent key, an API token or one of `tokens`.
fn has_secret(text: &[u8], tokens: &OwnTokens) -> bool {
    key_in(text).is_some() || tokens.is_in(text)
}

/// Like [`has_secret`], for the user and the password of `Basic`, which are encoded.
fn has_secret_in_basic(value: &[u8], tokens: &OwnTokens) -> bool {
    const SCHEME: &[u8] = b"basic ";
    let Some((scheme, encoded)) = value.split_at_checked(SCHEME.len()) else { return false };
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return false;
    }
    let mut decoded = [0; MAX_BASIC];
    let length = BASE64.decode_slice(encoded.trim_ascii(), &mut decoded).unwrap_or(0);
    has_secret(&decoded[..length], tokens)
}

fn has_secret_percent_encoded(value: &[u8], tokens: &OwnTokens) -> bool {
    value.contains(&b'%') && has_secret(percent_decoded(&String::from_utf8_lossy(value)).as_bytes(), tokens)
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

/// The first agent key in `text`.
fn key_in(text: &[u8]) -> Option<&str> {
    keys_in(text).next()
}

/// The agent keys in `text`: words that begin with a prefix.
fn keys_in(text: &[u8]) -> impl Iterator<Item = &str> {
    let is_in_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    // Every header of every call is searched, and few of them contain an underscore.
    let underscores = text.iter().enumerate().filter(|(_, byte)| **byte == b'_');
    let starts = underscores.filter_map(|(place, _)| place.checked_sub(PREFIX_LENGTH - 1));
    let words = starts.filter(move |start| {
        PREFIXES.iter().any(|prefix| text[*start..].starts_with(prefix.as_bytes()))
            && !text[..*start].last().is_some_and(is_in_word)
    });
    words.filter_map(move |start| {
        let length = text[start..].iter().position(|byte| !is_in_word(byte)).unwrap_or(text.len() - start);
        std::str::from_utf8(&text[start..start + length]).ok()
    })
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

    /// The first token is `first`.
    fn first_token() -> OwnTokens {
        OwnTokens::new(|text| String::from_utf8_lossy(text).split([' ', ':', '=', '/']).any(|word| word == "first"))
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
    fn secrets_are_stripped_wherever_they_stand() {
        let kept = [("authorization", "Basic c2s6"), ("accept", "text/html;q=0.5%"), ("x-note", "Basic")];
        for (name, value, is_credential) in [
            ("x-api-key", "agk_one", true),
            ("api-key", "first", true),
            ("x-goog-api-key", "Token token=first", true),
            ("cookie", "a=b; key=agk_one", false),
            ("x-other", "Bearer first", false),
            // `user:agk_one`, `first:` and `user:first`, the last without padding.
            ("x-api-key", "Basic dXNlcjphZ2tfb25l", true),
            ("x-other", "basic  Zmlyc3Q6", false),
            ("x-api-key", "BASIC dXNlcjpmaXJzdA", true),
            ("cookie", "a=b; key=agk%5Fone", false),
            ("x-other", "100%25 %66irst", false),
            ("x-api-key", "Token agk%5Fone", true),
        ] {
            let mut all = headers(&kept);
            all.insert(name, HeaderValue::from_static(value));
            assert_eq!(strip_headers(&mut all, &first_token()), is_credential, "{name}: {value}");
            assert_eq!(all, headers(&kept), "{name}: {value}");
        }
        for (parameter, expected) in [
            ("key=agk_one", true),
            ("token=agz_one", true),
            ("key=%61gk%5fone", true),
            ("any=%66irst", true),
            ("key=sk", false),
            ("q=100%25", false),
        ] {
            assert_eq!(is_in_parameter(parameter, &first_token()), expected, "{parameter}");
        }
    }

    #[test]
    fn secrets_in_a_path_are_found() {
        let key = format!("agz_{}", "a".repeat(KeyText::LENGTH - PREFIX_LENGTH));
        for (path, expected) in [
            (format!("/agents/{key}/openai"), true),
            (format!("/agents/a/openai/v1/%61{}/x", &key[1..]), true),
            ("/openai/first".to_owned(), true),
            (format!("/agents/agk_bot/openai/{key}"), true),
            ("/agents/agk_bot/openai/v1/threads/agz_one".to_owned(), false),
        ] {
            assert_eq!(is_in_path(&path, &first_token()), expected, "{path}");
        }
    }
}
