//! Puts the model of the agent's policy in the place of the one that was asked for.

use std::borrow::Cow;

use bytes::Bytes;
use http::HeaderValue;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use model::Event;

use crate::request::read::ReadBody;
use crate::truncate;

/// The parts of a request that can name its model.
pub(crate) struct ModelPlaces<'r, 'a> {
    /// The model that the path names, if it names one.
    pub(crate) in_path: Option<&'r str>,
    pub(crate) path: &'r mut Cow<'a, str>,
    pub(crate) headers: &'r mut HeaderMap,
    pub(crate) body: &'r mut ReadBody,
}

/// Writes `model` into the request, and notes both models in the event.
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

/// Whether a content type names a character set: a body that came in UTF-16 is sent on in UTF-8.
fn names_charset(content_type: &HeaderValue) -> bool {
    content_type.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("charset"))
}
