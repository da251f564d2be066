//! Asking a Chat Completions stream for its usage where the client did not, and taking what that adds out of the stream
//! again, so that the client sees what it would have seen.

mod filter;

use bytes::Bytes;

pub use filter::UsageFilter;

use crate::json::Json;

/// Where a stream is known to report usage if it is asked to, and not otherwise.
const HOSTS: [&str; 3] = ["api.openai.com", "api.deepseek.com", "api.groq.com"];

/// Whether the provider at this base URL documents `stream_options.include_usage` and needs it.
pub fn needs_include_usage(base_url: &str) -> bool {
    let host = base_url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    host.is_some_and(|host| HOSTS.contains(&host))
}

/// The body of a streamed Chat Completions request, made to ask for usage; all other bytes as they were. `None`: it asks
/// already, is not streamed, or cannot be read.
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
        Some(options) if options.is_null() => Splice::replace(place(text, options.raw())?, r#"{"include_usage":true}"#),
        Some(options) => ask_in_options(text, options)?,
    };
    Some(splice.apply(text))
}

fn ask_in_options<'a>(text: &str, options: Json<'_>) -> Option<Splice<'a>> {
    let inside = options.raw().strip_prefix('{')?;
    match options.field("include_usage") {
        Some(asked) if asked.is_true() => None,
        Some(asked) => Some(Splice::replace(place(text, asked.raw())?, "true")),
        None => {
            let is_empty = inside.trim_ascii_start().starts_with('}');
            let words = if is_empty { r#""include_usage":true"# } else { r#""include_usage":true,"# };
            Some(Splice::insert(place(text, inside)?.0, words))
        }
    }
}

/// Words in place of some bytes.
struct Splice<'a> {
    from: usize,
    to: usize,
    words: &'a str,
}

impl<'a> Splice<'a> {
    fn insert(at: usize, words: &'a str) -> Splice<'a> {
        Splice { from: at, to: at, words }
    }

    fn replace((from, to): (usize, usize), words: &'a str) -> Splice<'a> {
        Splice { from, to, words }
    }

    fn apply(&self, text: &str) -> Bytes {
        let (before, after) = (&text.as_bytes()[..self.from], &text.as_bytes()[self.to..]);
        [before, self.words.as_bytes(), after].concat().into()
    }
}

/// Where `part`, a piece of `text` itself, begins and ends in it.
fn place(text: &str, part: &str) -> Option<(usize, usize)> {
    let from = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let to = from + part.len();
    (to <= text.len()).then_some((from, to))
}

#[cfg(test)]
mod tests;
