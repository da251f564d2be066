//! Replaces the requested model by the model of the agent's policy.

use std::borrow::Cow;

use bytes::Bytes;
use http::HeaderValue;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use model::Event;

use crate::request::read::ReadBody;
use crate::truncate;

/// The places in a request that can name its model.
pub(crate) struct ModelPlaces<'r, 'a> {
    /// The model in the path, if any.
    pub(crate) in_path: Option<&'r str>,
    pub(crate) path: &'r mut Cow<'a, str>,
    pub(crate) headers: &'r mut HeaderMap,
    pub(crate) body: &'r mut ReadBody,
}

/// Writes `model` into the request, and records both models in the event.
pub(crate) fn override_model(model: &str, places: ModelPlaces<'_, '_>, event: &mut Event) {
    let ModelPlaces { in_path, path, headers, body } = places;
    if let Some(changed) = in_path.and_then(|asked| wire::path_with_model(path, asked, model)) {
        *path = Cow::Owned(changed);
    } else {
        let plain: Option<&Bytes> = body.plain.as_ref().ok();
        let Some(changed) = plain.and_then(|plain| wire::body_with_model(plain, model)) else { return };
        body.raw = changed.into();
        // The changed body is plain UTF-8 and has another length.
        headers.remove(CONTENT_ENCODING);
        headers.remove(CONTENT_LENGTH);
        if headers.get(CONTENT_TYPE).is_some_and(names_charset) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
    }
    event.model_asked = event.model.replace(truncate::model_name(model));
}

/// Whether a content type names a character set: a UTF-16 body is forwarded as UTF-8.
fn names_charset(content_type: &HeaderValue) -> bool {
    content_type.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("charset"))
}
