//! Webhooks as Standard Webhooks specifies: id, time and signature in headers, the same id on every
//! attempt.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use egress::Post;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderValue, header};
use model::{DeliveryId, Target, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

use crate::message::Message;

const PREFIX: &str = "whsec_";

/// The request that carries `message`, signed at `now`; `None` if the secret is invalid.
pub(crate) fn post(target: Target, secret: &SecretString, message: &Message, now: Timestamp) -> Option<Post> {
    let body = message.body().to_string();
    let seconds = now.as_millis().div_euclid(1000);
    let signature = signature(secret, message.id, seconds, &body)?;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("AgentGazer/", env!("CARGO_PKG_VERSION"))));
    headers.insert("webhook-id", message.id.to_string().parse().ok()?);
    headers.insert("webhook-timestamp", seconds.to_string().parse().ok()?);
    headers.insert("webhook-signature", signature.parse().ok()?);
    Some(Post { target, headers, body: Bytes::from(body) })
}

/// `v1,` and the HMAC of id, time and body.
fn signature(secret: &SecretString, id: DeliveryId, seconds: i64, body: &str) -> Option<String> {
    let key = STANDARD.decode(secret.expose_secret().strip_prefix(PREFIX)?).ok()?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    mac.update(format!("{id}.{seconds}.").as_bytes());
    mac.update(body.as_bytes());
    Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::message::tests::killed;

    /// Made with OpenSSL: `printf '%s' "$id.$seconds.$body" | openssl dgst -sha256 -mac HMAC
    /// -macopt hexkey:… -binary | base64`.
    #[test]
    fn the_signature_is_that_of_the_standard() {
        let secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=".into();
        let id = DeliveryId::parse("01a1e113-0000-7000-8000-000000000001").unwrap();
        assert_eq!(signature(&secret, id, 1_700_000_000, "{\"a\":1}").unwrap(), SIGNATURE);
        assert_eq!(signature(&"no secret".into(), id, 0, ""), None);
    }
    const SIGNATURE: &str = "v1,3ebm86KGOZfaIczaAiMZ5b58zZdrjGqn0f7w5gPQ2H4=";

    #[test]
    fn an_attempt_has_its_own_time_and_the_same_id() {
        let secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=".into();
        let target = Target::parse("https://example.com/hook").unwrap();
        let at = |seconds: i64| {
            let post = post(target.clone(), &secret, &killed("m"), Timestamp::from_millis(seconds * 1000)).unwrap();
            ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| post.headers[name].clone())
        };
        let (first, second) = (at(1), at(2));
        assert_eq!(first[0], second[0]);
        assert_eq!((first[1].as_bytes(), second[1].as_bytes()), (b"1".as_slice(), b"2".as_slice()));
        assert_ne!(first[2], second[2]);
    }
}
