//! The origin of a web page, as a setting.

/// The origin of a web page: scheme, host and optional port, as browsers send it in `Origin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// Parses an origin. An error says what it must be.
    pub fn parse(text: &str) -> Result<Origin, String> {
        let expected = || format!("must be origins like https://app.example or http://localhost:3000, not {text:?}");
        match text {
            // The origin of every sandboxed frame of every site.
            "null" => return Err("cannot be \"null\": a page of any site can have this origin".to_owned()),
            "*" => return Err("cannot be \"*\": every web page could use the proxy; name each origin".to_owned()),
            _ => {}
        }
        let (scheme, host) = text.split_once("://").ok_or_else(expected)?;
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        // Electron sends `file://` for its own pages.
        let is_host = (!host.is_empty() || scheme.eq_ignore_ascii_case("file"))
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:[]".contains(&byte));
        if !is_scheme || !is_host {
            return Err(expected());
        }
        Ok(Origin(without_default_port(&text.to_ascii_lowercase()).to_owned()))
    }

    /// Whether an `Origin` header names it.
    pub(crate) fn matches(&self, header: &[u8]) -> bool {
        self.0.as_bytes().eq_ignore_ascii_case(header)
    }
}

/// Browsers omit the default port of a scheme.
fn without_default_port(origin: &str) -> &str {
    let default = if origin.starts_with("http://") {
        ":80"
    } else if origin.starts_with("https://") {
        ":443"
    } else {
        ""
    };
    origin.strip_suffix(default).unwrap_or(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_have_a_scheme_and_a_host_and_nothing_else() {
        for (text, sent) in [
            ("https://app.example", "https://app.example"),
            ("HTTPS://App.Example:443", "https://app.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://[::1]:80", "http://[::1]"),
            ("chrome-extension://abcdefgh", "chrome-extension://abcdefgh"),
            ("tauri://localhost", "tauri://localhost"),
            ("file://", "file://"),
        ] {
            let origin = Origin::parse(text);
            assert!(origin.as_ref().is_ok_and(|origin| origin.matches(sent.as_bytes())), "{text}: {origin:?}");
        }
        for text in
            ["", "*", "null", "app.example", "https://", "https://app.example/", "https://a b", "://x", "https://ä.de"]
        {
            assert!(Origin::parse(text).is_err(), "{text}");
        }
    }
}
