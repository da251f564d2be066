//! Every text of the dashboard is in `templates/`, `src/pages/text/words/` and `static/words.js`,
//! so that it can be translated: no other page code, script or style may have any.

use std::fs;
use std::path::{Path, PathBuf};

/// Strings that look like words but are not: headers, cookies, selectors, paths of pictures, errors
/// that only code sees.
const NO_WORDS: [&str; 24] = [
    "text/css; charset=utf-8",
    "text/javascript; charset=utf-8",
    "text/plain; charset=utf-8",
    "public, max-age=31536000, immutable",
    r#"attachment; filename=\"{call}-{which}.txt\""#,
    "{THEME_COOKIE}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000",
    "agentgazer_offset=${minutes}; path=/; SameSite=Lax; max-age=31536000",
    "M{from} {ROW} Q{} {height} {to} {ROW}",
    "[role=alertdialog] button, [role=alert]:not([hidden]), #tested",
    "[data-copy], [data-copy-from]",
    "svg [data-at]",
    "[data-found] a",
    "Enter",
    "ArrowDown",
    "ArrowUp",
    "<time ",
    "Escape",
    "Notification",
    "details:is(.confirm, .drop)[open], #navigation details[open]",
    "[data-live][id]",
    "tr[data-key]",
    "(prefers-reduced-motion: reduce)",
    "no page",
    "no answer",
];

#[test]
fn words_are_only_where_a_translator_looks() {
    let pages = files("src/pages").into_iter().filter(|path| !path.to_string_lossy().contains("/pages/text/words"));
    let static_files = files("static").into_iter().filter(|path| !path.ends_with("words.js"));
    let mut found = Vec::new();
    for path in pages.chain(static_files) {
        let source = fs::read_to_string(&path).unwrap();
        // Tests may contain any text.
        let code = source.split("#[cfg(test)]").next().unwrap();
        let words = literals(code).into_iter().filter(|text| is_words(text) && !NO_WORDS.contains(&text.as_str()));
        found.extend(words.map(|text| format!("{}: {text:?}", path.display())));
    }
    assert_eq!(found, Vec::<String>::new(), "belongs to a template, to src/pages/text/words/ or to static/words.js");
}

#[test]
fn text_is_distinguished_from_code() {
    let check = |source: &str, expected: &[&str]| {
        let words: Vec<String> = literals(source).into_iter().filter(|text| is_words(text)).collect();
        assert_eq!(words, expected, "{source}");
    };
    check(r#"say("Nothing needs you.")"#, &["Nothing needs you."]);
    check(r#"label("Provider")"#, &["Provider"]);
    check(r#"format!("{} calls", count)"#, &["{} calls"]);
    check("`Not live: ${seconds}`", &["Not live: ${seconds}"]);
    check(".x::before { content: \"switch \" }", &["switch "]);
    check("// a \"quoted comment\"\nfield(\"window_size\", '\"')", &[]);
    check(r#"format!("{score:.1} / {threshold}")"#, &[]);
    check("/* it \"is said\" */ content: \"●\"", &[]);
}

fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|extension| extension.to_str()) {
                None => folders.push(path),
                Some("rs" | "js" | "css") => found.push(path),
                Some(_) => {}
            }
        }
    }
    assert!(!found.is_empty());
    found
}

/// The text between quotes in Rust, JavaScript or CSS, comments apart.
fn literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '`', '/', '\'']) {
        let here = &rest[at..];
        rest = if here.starts_with("//") {
            after(here, "\n")
        } else if here.starts_with("/*") {
            after(here, "*/")
        } else if here.starts_with('\'') && here[1..].starts_with(['"', '`', '/']) {
            // One character in quotes.
            &here[2..]
        } else if here.starts_with(['"', '`']) {
            let literal = quoted(here);
            found.push(literal.to_owned());
            &here[literal.len() + 2..]
        } else {
            &here[1..]
        };
    }
    found
}

fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

/// The text between the quote at the start of `text` and the next one that is not escaped.
fn quoted(text: &str) -> &str {
    let (quote, mut is_escaped) = (text.as_bytes()[0], false);
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == quote && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    &text[1..=end.unwrap_or_else(|| panic!("a quote that does not end: {text:.80}"))]
}

/// Whether `text` is for people: it has a letter and a blank, or a word with a capital, apart from
/// placeholders.
fn is_words(text: &str) -> bool {
    let mut said = String::new();
    let mut depth = 0;
    for character in text.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            character if depth == 0 => said.push(character),
            _ => {}
        }
    }
    let mut characters = said.chars();
    let is_name =
        characters.next().is_some_and(char::is_uppercase) && characters.next().is_some_and(char::is_lowercase);
    let has_letter = said.chars().any(char::is_alphabetic);
    has_letter && (is_name || said.contains(char::is_whitespace))
}
