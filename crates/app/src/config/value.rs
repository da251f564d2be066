//! Parsers of settings: durations, sizes, addresses, providers. Every error says what is expected.

use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

use http::StatusCode;
use model::{Format, Provider};
use secrecy::SecretString;
use store::PostgresConfig;

/// A value, or what is expected.
pub(super) type Read<T> = Result<T, String>;

/// Parses any `FromStr` type; `expected` is the error.
pub(super) fn parsed<T: FromStr>(text: &str, expected: &str) -> Read<T> {
    text.trim().parse().map_err(|_| format!("must be {expected}, not {text:?}"))
}

/// `on` or `off`, `true` or `false`.
pub(super) fn switch(text: &str) -> Read<bool> {
    match text.trim() {
        "true" | "on" => Ok(true),
        "false" | "off" => Ok(false),
        _ => Err(format!("must be true or false, not {text:?}")),
    }
}

/// `NAME=on` or `NAME=off`.
pub(super) fn named_switch(text: &str) -> Read<(String, bool)> {
    let expected = || format!("must be providers like openai=on or mine=off, not {text:?}");
    let (name, state) = text.trim().split_once('=').ok_or_else(expected)?;
    Ok((name.to_owned(), switch(state).map_err(|_| expected())?))
}

/// One of the words that `parse` accepts.
pub(super) fn word<T>(text: &str, parse: fn(&str) -> Option<T>, words: &str) -> Read<T> {
    parse(text.trim()).ok_or_else(|| format!("must be one of {words}, not {text:?}"))
}

/// `500ms`, `10s`, `5m`, `12h`, `30d`; above zero.
pub(super) fn duration(text: &str) -> Read<Duration> {
    let millis = scaled(text, &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)]);
    match millis {
        Some(millis) if millis > 0 => Ok(Duration::from_millis(millis)),
        _ => Err(format!("must be a duration like 500ms, 10s or 5m, not {text:?}")),
    }
}

/// A [`duration`] or `0`.
pub(super) fn duration_or_zero(text: &str) -> Read<Duration> {
    if matches!(text.trim(), "0" | "0s") { Ok(Duration::ZERO) } else { duration(text) }
}

/// `65536`, `64KiB`, `32MiB`, `1GiB`; above zero.
pub(super) fn size(text: &str) -> Read<usize> {
    let bytes = scaled(text, &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("", 1)]);
    match bytes.and_then(|bytes| usize::try_from(bytes).ok()) {
        Some(bytes) if bytes > 0 => Ok(bytes),
        _ => Err(format!("must be a size in bytes like 65536, 64KiB or 32MiB, not {text:?}")),
    }
}

/// A whole number followed by one of `units`.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// An IP address; names are not resolved.
pub(super) fn address(text: &str) -> Read<IpAddr> {
    if text.trim() == "localhost" {
        return Ok(IpAddr::from([127, 0, 0, 1]));
    }
    parsed(text, "an IP address like 127.0.0.1 or 0.0.0.0")
}

/// A token, which must fit into a header and a link. Errors never repeat its text.
pub(super) fn token(text: &str) -> Read<SecretString> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
    if text.is_empty() || !text.bytes().all(fits) {
        return Err("must have at least 16 characters, all of A-Z a-z 0-9 - . _ ~ + / =".to_owned());
    }
    Ok(SecretString::from(text))
}

/// The address of the dashboard: `http` or `https`, without query and fragment. A trailing slash is
/// dropped.
pub(super) fn web_address(text: &str) -> Read<String> {
    let target = model::Target::parse(text.trim());
    if target.is_err() || text.contains(['?', '#']) {
        return Err(format!("must be an address like https://gazer.example, not {text:?}"));
    }
    Ok(text.trim().trim_end_matches('/').to_owned())
}

/// `NAME=URL` for one of `known`, or `NAME=FORMAT+URL`.
pub(super) fn provider(text: &str, known: &[Provider]) -> Read<Provider> {
    let expected = || format!("must be NAME=URL or NAME=FORMAT+URL, not {text:?}");
    let (name, target) = text.trim().split_once('=').ok_or_else(expected)?;
    let scheme = target.split("://").next().unwrap_or_default();
    let (format, url) = match scheme.split_once('+') {
        Some((format, _)) => {
            let read = word(format, Format::parse, FORMATS);
            (read.map_err(|wrong| format!("{name:?} has a format that {wrong}"))?, &target[format.len() + 1..])
        }
        None => (format_of(name, known)?, target),
    };
    Provider::new(name, url, format)
        .map_err(|invalid| format!("{name:?} has a {} that {}", invalid.field, invalid.message))
}

/// The names of formats, for messages.
pub(super) const FORMATS: &str = "openai, anthropic, gemini, ollama";

/// The format of a known provider.
fn format_of(name: &str, known: &[Provider]) -> Read<Format> {
    let found = known.iter().find(|provider| provider.name == name).map(|provider| provider.format);
    found.ok_or_else(|| format!("{name:?} is no built-in provider, so its format is needed: {name}=FORMAT+URL"))
}

pub(super) fn port(text: &str) -> Read<u16> {
    parsed(text, "a port from 0 (any free one) to 65535")
}

/// The file in the data directory, or a server.
pub(super) fn database_url(text: &str) -> Read<Option<SecretString>> {
    if text == "sqlite" {
        return Ok(None);
    }
    // Without the password file, which only a server reads.
    PostgresConfig::new(text.into(), None).map_err(|why| format!("{why}, or sqlite"))?;
    Ok(Some(text.into()))
}

pub(super) fn path(text: &str) -> Read<std::path::PathBuf> {
    if text.is_empty() { Err("must be a path".to_owned()) } else { Ok(text.into()) }
}

pub(super) fn at_least_one(text: &str) -> Read<usize> {
    let number: std::num::NonZeroU32 = parsed(text, "a whole number above 0")?;
    usize::try_from(number.get()).map_err(|_| "is too large".to_owned())
}

/// The size limit of the database; `none` for no limit.
pub(super) fn max_size(text: &str) -> Result<Option<u64>, String> {
    const LEAST: usize = 16 << 20;
    match text.trim() {
        "none" => Ok(None),
        text => match size(text) {
            Ok(bytes) if bytes >= LEAST => Ok(Some(bytes as u64)),
            _ => Err(format!("must be a size of at least 16MiB like 20GiB, or none, not {text:?}")),
        },
    }
}

/// Whole days, written as `30d`.
pub(super) fn days(text: &str) -> Read<u32> {
    let days = text.trim().strip_suffix('d').and_then(|days| days.parse().ok()).filter(|days| *days > 0);
    days.ok_or_else(|| format!("must be days like 30d, not {text:?}"))
}

/// hyper cannot work with less than 8 KiB.
pub(super) fn header_size(text: &str) -> Read<usize> {
    let size = size(text)?;
    if (8 << 10..=1 << 20).contains(&size) { Ok(size) } else { Err("must be from 8KiB to 1MiB".to_owned()) }
}

pub(super) fn refusal_status(text: &str) -> Read<StatusCode> {
    let status = text.trim().parse::<StatusCode>().ok().filter(StatusCode::is_client_error);
    status.ok_or_else(|| format!("must be a status from 400 to 499, not {text:?}"))
}

/// A single word must be a level: the filter would treat any other as the name of a module, and log
/// nothing else.
pub(super) fn log_level(text: &str) -> Read<String> {
    let is_level =
        |word: &str| ["error", "warn", "info", "debug", "trace"].contains(&word.to_ascii_lowercase().as_str());
    let is_directive = |part: &str| part.contains(['=', '[']) || is_level(part);
    match tracing_subscriber::EnvFilter::try_new(text) {
        Ok(_) if text.split(',').all(is_directive) => Ok(text.to_owned()),
        _ => Err(format!(
            "must be one of error, warn, info, debug, trace, or a filter like info,proxy=debug, not {text:?}"
        )),
    }
}

/// A name for the `Host` header; one with a port would never match.
pub(super) fn host_name(text: &str) -> Read<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    let has_port = !text.contains('[') && text.contains(':');
    if text.is_empty() || has_port || !text.bytes().all(allowed) {
        return Err(format!("must be host names without scheme or port, not {text:?}"));
    }
    Ok(text.to_owned())
}

pub(super) fn dollars(text: &str) -> Read<f64> {
    parsed(text, "a number of dollars from 0 to 1000000")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn durations_and_sizes_have_units() {
        let millis = |text: &str| duration(text).ok().map(|duration| duration.as_millis());
        assert_eq!(
            ["250ms", "10s", " 5 m", "2h", "30d"].map(millis),
            [250, 10_000, 300_000, 7_200_000, 2_592_000_000].map(Some)
        );
        assert_eq!(["", "10", "s", "-1s", "1.5s", "0s", "10 parsecs", "99999999999999999999d"].map(millis), [None; 8]);
        let bytes = |text: &str| size(text).ok();
        assert_eq!(["1", "64KiB", "32 MiB", "1GiB"].map(bytes), [1, 65_536, 33_554_432, 1_073_741_824].map(Some));
        assert_eq!(["", "0", "1KB", "MiB", "-1", "99999999999GiB"].map(bytes), [None; 6]);
    }

    #[test]
    fn a_provider_is_known_or_names_its_format() {
        let known = [Provider::new("anthropic", "https://api.anthropic.com", Format::Anthropic).unwrap()];
        let read = |text: &str| provider(text, &known).map(|it| (it.name, it.base_url, it.format));
        let expect = |name: &str, url: &str, format| Ok((name.to_owned(), url.to_owned(), format));
        assert_eq!(read("anthropic=http://127.0.0.1:9/"), expect("anthropic", "http://127.0.0.1:9", Format::Anthropic));
        assert_eq!(read("mine=openai+https://x.test/a+b"), expect("mine", "https://x.test/a+b", Format::Openai));
        let told = |text: &str| provider(text, &known).err().unwrap_or_default();
        assert_eq!(
            [told("mine=klingon+http://x"), told("mine=openai+ftp://x")],
            [
                "\"mine\" has a format that must be one of openai, anthropic, gemini, ollama, not \"klingon\"",
                "\"mine\" has a base_url that must start with http:// or https://",
            ]
        );
        for bad in
            ["", "anthropic", "mine=http://x", "mine=klingon+http://x", "mine=openai+ftp://x", "Mine=openai+http://x"]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_token_fits_into_a_header_and_is_never_repeated() {
        assert!(token("abc-123").is_ok());
        for bad in ["", "with space", "new\nline", "ümlaut"] {
            let error = token(bad).unwrap_err();
            assert!(bad.is_empty() || !error.contains(bad), "{error}");
        }
    }
}
