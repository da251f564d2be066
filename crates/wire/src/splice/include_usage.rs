//! Asks a Chat Completions stream for its usage if the client did not. `UsageFilter` removes from
//! the stream what that adds.

use bytes::Bytes;

use super::{Splice, range_of};
use crate::json::Json;

/// Hosts whose streams report usage only on request.
const HOSTS: [&str; 3] = ["api.openai.com", "api.deepseek.com", "api.groq.com"];

/// Whether the provider at this base URL documents `stream_options.include_usage` and needs it.
pub fn needs_include_usage(base_url: &str) -> bool {
    let host = base_url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    host.is_some_and(|host| HOSTS.contains(&host))
}

/// Adds the request for usage to the body of a streamed Chat Completions request. `None` if it
/// already asks, is not streamed, or cannot be read.
pub fn ask_for_usage(body: &[u8]) -> Option<Bytes> {
    let text = simdutf8::basic::from_utf8(body).ok()?;
    let (mut streamed, mut options) = (false, None);
    Json::parse_fields(text, |key, value| match key {
        "stream" => streamed = value.is_true(),
        "stream_options" => options = Some(value),
        _ => {}
    })
    .ok()?;
    if !streamed {
        return None;
    }
    let splice = match options {
        None => Splice::insert(text.find('{')? + 1, r#""stream_options":{"include_usage":true},"#),
        Some(options) if options.is_null() => {
            Splice::replace(range_of(text, options.raw())?, r#"{"include_usage":true}"#)
        }
        Some(options) => ask_in_options(text, options)?,
    };
    Some(splice.apply(text))
}

fn ask_in_options<'a>(text: &str, options: Json<'_>) -> Option<Splice<'a>> {
    let inside = options.raw().strip_prefix('{')?;
    match options.field("include_usage") {
        Some(asked) if asked.is_true() => None,
        Some(asked) => Some(Splice::replace(range_of(text, asked.raw())?, "true")),
        None => {
            let is_empty = inside.trim_ascii_start().starts_with('}');
            let addition = if is_empty { r#""include_usage":true"# } else { r#""include_usage":true,"# };
            Some(Splice::insert(range_of(text, inside)?.0, addition))
        }
    }
}
