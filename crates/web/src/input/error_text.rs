//! Error messages for people, made from those of a deserialiser. They never repeat the given value.

const AN_ID: &str = "an id such as 01a1e113-cde6-7655-bec5-72125b2b0e22";

/// The invalid field (`None`: the whole body) and what it must be, from the path and message of an
/// error.
pub(super) fn takes(path: &str, message: &str) -> (Option<String>, String) {
    if let Some(field) = quoted_after(message, "missing field `") {
        return (Some(field), "must be given".to_owned());
    }
    if let Some(field) = quoted_after(message, "duplicate field `") {
        return (Some(field), "must be given once".to_owned());
    }
    if let Some(field) = quoted_after(message, "unknown field `") {
        return (Some(field), format!("is not known here; known: {}", known(message)));
    }
    let field = (path != ".").then(|| path.to_owned());
    match message.split_once("expected ") {
        Some((_, expected)) => {
            let what = name(expected);
            (field, format!("must be {what}"))
        }
        None if message.contains("invalid digit") || message.contains("number too large") => {
            (field, "must be a whole number".to_owned())
        }
        None if message.contains("`true` or `false`") => (field, "must be true or false".to_owned()),
        None if message.contains("UUID parsing failed") => (field, format!("must be {AN_ID}")),
        None if message.contains("RFC 3339") => (field, "must be a time such as 2024-01-15T10:30:00Z".to_owned()),
        None => (field, message.to_owned()),
    }
}

/// The text after `start` up to the closing quote.
fn quoted_after(message: &str, start: &str) -> Option<String> {
    let (name, _) = message.strip_prefix(start)?.split_once('`')?;
    Some(name.to_owned())
}

/// The known fields, from the message about an unknown one.
fn known(message: &str) -> String {
    let (_, fields) = message.split_once("expected ").unwrap_or(("", "none"));
    fields.strip_prefix("one of ").unwrap_or(fields).replace(" or ", ", ")
}

/// The expected type in plain words.
fn name(expected: &str) -> String {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "i64" => "a whole number".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a formatted UUID string" => AN_ID.to_owned(),
        other if other.starts_with("struct ") => "an object".to_owned(),
        other if other.contains("string or map") || other.starts_with("enum ") => "a word".to_owned(),
        other => other.to_owned(),
    }
}
