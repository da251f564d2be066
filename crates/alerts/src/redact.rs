//! Hides the secret part of an address in an answer: many servers repeat the path in an error, like
//! `Cannot POST /hooks/…`, and the history shows answers to everyone who may read it.

/// Shorter parts are words like `api` and `v1`; without them an answer cannot be understood.
const SECRET_LENGTH: usize = 6;

/// `answer` without the parts of the address that may be secret. They are looked for one by one,
/// because an answer may quote, decode or escape what is between them.
pub(crate) fn hide_address(answer: &str, path_and_query: &str) -> String {
    let mut parts: Vec<&str> = [&['/', '?', '&'][..], &['/', '?', '&', '=', ':']]
        .into_iter()
        .flat_map(|separators| without_escapes(path_and_query).flat_map(move |text| text.split(separators)))
        .filter(|part| part.len() >= SECRET_LENGTH)
        .collect();
    // The longest first: a part may be inside another.
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    parts.into_iter().fold(answer.to_owned(), |answer, part| answer.replace(part, "…"))
}

/// The parts between percent-escapes, because an answer may repeat the escapes as they are or
/// decoded.
fn without_escapes(text: &str) -> impl Iterator<Item = &str> {
    let skipped = std::iter::once(0).chain(std::iter::repeat(2));
    text.split('%').zip(skipped).filter_map(|(text, skipped)| text.get(skipped..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_parts_of_an_address_are_hidden_in_answers() {
        let check = |address: &str, answer: &str, expected: &str| assert_eq!(hide_address(answer, address), expected);
        check("/hooks/canary-1", "Cannot POST /hooks/canary-1", "Cannot POST /hooks/…");
        check("/api/v1?key=canary", r#"{"path":"\/api\/v1?key=canary"}"#, r#"{"path":"\/api\/v1?…"}"#);
        check("/api/v1?key=canary", "the key canary is wrong", "the key … is wrong");
        check("/bot123456:canary/send", "no bot 123456:canary, no canary", "no bot 123456:…, no …");
        check("/x?k=a:b:c:d", "a:b:c:d", "a:b:c:d");
        check("/hook?key=a:b:c:d", "/hook?key=a:b:c:d", "/hook?…");
        check("/first%20second-canary", "first second-canary", "first …");
        check("/canary-1/canary-12", "canary-12 canary-1", "… …");
        check("/", "not found: /", "not found: /");
        check("/broken%", "broken%", "…%");
    }
}
