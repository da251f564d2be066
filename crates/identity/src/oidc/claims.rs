//! The claims of a login: checks that they belong to it, and reads the person.

use model::Timestamp;
use serde_json::Value;

use super::{OidcConfig, OidcError};
use crate::TokenRefusal;
use crate::signed_token::{CLOCK_SKEW, Claims};

/// The longest name or id of a person that is kept.
const MAX_TEXT: usize = 255;
/// More groups than anyone maps to roles.
const MAX_GROUPS: usize = 1000;

/// A person who has logged in at the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The provider's id of the person (`sub`), which never changes.
    pub subject: String,
    /// The display name.
    pub name: String,
    /// The person's groups at the provider.
    pub groups: Vec<String>,
}

impl Person {
    /// Reads the person; `None` if the provider gives no id.
    pub(super) fn read(claims: &Claims, config: &OidcConfig) -> Option<Person> {
        let text = |name: &str| find(claims, name).and_then(Value::as_str).filter(|text| is_printable(text));
        let subject = text("sub")?.to_owned();
        let name = text(&config.name_claim).or_else(|| text("email")).or_else(|| text("name"));
        let name = name.unwrap_or(&subject).to_owned();
        Some(Person { subject, name, groups: groups(claims, &config.groups_claim) })
    }
}

/// Whether the claims lack a required field.
pub(super) fn lacks_person(claims: &Claims, config: &OidcConfig) -> bool {
    [&config.groups_claim, &config.name_claim].into_iter().any(|name| find(claims, name).is_none())
}

/// When a token with valid claims is no longer accepted.
pub(super) fn end(claims: &Claims) -> Timestamp {
    let seconds = claims.get("exp").and_then(Value::as_f64).unwrap_or_default() as i64;
    Timestamp::from_millis(seconds.saturating_add(CLOCK_SKEW as i64 + 1).saturating_mul(1000))
}

/// Checks the claims that are specific to a login token.
pub(super) fn check(claims: &Claims, client_id: &str, nonce: &str) -> Result<(), OidcError> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("nonce") != Some(nonce) {
        return Err(OidcError::Nonce);
    }
    let is_for_several = claims.get("aud").and_then(Value::as_array).is_some_and(|audiences| audiences.len() > 1);
    // A token with several audiences must name the one that requested it.
    match text("azp") {
        Some(party) if party != client_id => Err(TokenRefusal::Audience.into()),
        None if is_for_several => Err(TokenRefusal::Audience.into()),
        _ => Ok(()),
    }
}

/// Adds the userinfo claims to `claims`. The claims of the token take precedence.
pub(super) fn merge(claims: Claims, body: &[u8]) -> Result<Claims, OidcError> {
    let unreadable = |error| OidcError::Unavailable(format!("what the provider says of a person: {error}"));
    let mut merged: Claims = serde_json::from_slice(body).map_err(unreadable)?;
    // Otherwise they belong to another person (OpenID Connect Core, 5.3.2).
    if merged.get("sub") != claims.get("sub") {
        return Err(TokenRefusal::Claims.into());
    }
    merged.extend(claims);
    Ok(merged)
}

fn groups(claims: &Claims, claim: &str) -> Vec<String> {
    let one = |value: &Value| value.as_str().filter(|text| is_printable(text)).map(str::to_owned);
    match find(claims, claim) {
        Some(Value::Array(groups)) => groups.iter().filter_map(one).take(MAX_GROUPS).collect(),
        Some(value) => one(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// A claim by its name, or by a dotted path such as `realm_access.roles`.
fn find<'a>(claims: &'a Claims, name: &str) -> Option<&'a Value> {
    if let Some(value) = claims.get(name) {
        return Some(value);
    }
    let (first, rest) = name.split_once('.')?;
    rest.split('.').try_fold(claims.get(first)?, |value, key| value.get(key))
}

fn is_printable(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_TEXT && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may")]

    use serde_json::json;

    use super::*;

    fn config(groups_claim: &str) -> OidcConfig {
        OidcConfig {
            issuer: "https://login.example".to_owned(),
            client_id: "gazer".to_owned(),
            client_secret: None,
            scopes: Vec::new(),
            groups_claim: groups_claim.to_owned(),
            name_claim: "preferred_username".to_owned(),
        }
    }

    fn claims(value: Value) -> Claims {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn groups_are_read_from_a_list_a_word_or_a_path() {
        let check = |claims_json: Value, claim: &str, groups: &[&str]| {
            let person = Person::read(&claims(claims_json), &config(claim)).unwrap();
            assert_eq!(person.groups, groups, "{claim}");
        };
        check(json!({"sub": "1", "groups": ["a", 5, "b", ""]}), "groups", &["a", "b"]);
        check(json!({"sub": "1", "groups": "a"}), "groups", &["a"]);
        check(json!({"sub": "1", "realm_access": {"roles": ["a"]}}), "realm_access.roles", &["a"]);
        check(json!({"sub": "1", "https://x.example/groups": ["a"]}), "https://x.example/groups", &["a"]);
        check(json!({"sub": "1"}), "groups", &[]);
    }

    #[test]
    fn person_needs_an_id_and_has_a_name() {
        let name = |claims_json: Value| Person::read(&claims(claims_json), &config("groups")).map(|person| person.name);
        assert_eq!(name(json!({"sub": "1", "preferred_username": "ann", "email": "a@b"})), Some("ann".to_owned()));
        assert_eq!(name(json!({"sub": "1", "preferred_username": "a\nb", "email": "a@b"})), Some("a@b".to_owned()));
        assert_eq!(name(json!({"sub": "1"})), Some("1".to_owned()));
        assert_eq!(name(json!({"preferred_username": "ann"})), None);
    }

    #[test]
    fn token_must_be_of_this_login_and_for_us() {
        let checked = |claims_json: Value| check(&claims(claims_json), "gazer", "n");
        assert!(checked(json!({"nonce": "n", "aud": "gazer"})).is_ok());
        assert!(checked(json!({"nonce": "n", "aud": ["gazer", "other"], "azp": "gazer"})).is_ok());
        assert!(matches!(checked(json!({"nonce": "other", "aud": "gazer"})), Err(OidcError::Nonce)));
        assert!(matches!(checked(json!({"aud": "gazer"})), Err(OidcError::Nonce)));
        for claims_json in
            [json!({"nonce": "n", "aud": ["gazer", "other"]}), json!({"nonce": "n", "aud": "gazer", "azp": "other"})]
        {
            assert!(matches!(checked(claims_json), Err(OidcError::Token(TokenRefusal::Audience))));
        }
    }

    #[test]
    fn login_cannot_be_repeated_once_its_token_is_refused() {
        let end = |exp: Value| end(&claims(json!({ "exp": exp }))).as_millis();
        assert_eq!((end(json!(1_000)), end(json!(1_000.5))), (1_061_000, 1_061_000));
        assert_eq!(end(json!(1e300)), i64::MAX);
    }

    #[test]
    fn further_claims_must_be_about_the_same_person() {
        let token = || claims(json!({"sub": "1", "name": "ann"}));
        let merged = merge(token(), br#"{"sub": "1", "name": "eve", "groups": ["a"]}"#).unwrap();
        assert_eq!(Value::Object(merged), json!({"sub": "1", "name": "ann", "groups": ["a"]}));
        assert!(merge(token(), br#"{"sub": "2", "groups": ["a"]}"#).is_err());
        assert!(merge(token(), b"eyJ").is_err());
    }
}
