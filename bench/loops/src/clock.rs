//! Times as programs print them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Milliseconds since 1970, written with a `strftime` pattern in UTC.
pub(crate) fn written(millis: i64, pattern: &str) -> String {
    let time = Timestamp::from_millisecond(millis).unwrap_or_default();
    time.to_zoned(TimeZone::UTC).strftime(pattern).to_string()
}

/// RFC 3339 with milliseconds, as the replay form wants it.
pub(crate) fn rfc3339(millis: i64) -> String {
    written(millis, "%Y-%m-%dT%H:%M:%S.%3fZ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(rfc3339(1_763_422_622_043), "2025-11-17T23:37:02.043Z");
        assert_eq!(written(1_763_422_622_043, "%a, %d %b %Y %H:%M:%S GMT"), "Mon, 17 Nov 2025 23:37:02 GMT");
    }
}
