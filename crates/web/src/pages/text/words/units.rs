//! Times and amounts with their units. `static/words.js` has the same words for values that a
//! browser writes in the viewer's own language.

use crate::pages::number::grouped;

/// The suffixes for thousands, millions and billions: `12.4k`.
pub(in crate::pages) const THOUSAND: &str = "k";
pub(in crate::pages) const MILLION: &str = "M";
pub(in crate::pages) const BILLION: &str = "B";

/// The time since something happened: `3 min ago`.
pub(in crate::pages) fn ago(seconds: u64) -> String {
    match seconds {
        0..5 => "just now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// The time that something took: `340 ms`, `1.2 s`.
pub(in crate::pages) fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1e3),
        _ => format!("{:.1} min", millis as f64 / 60e3),
    }
}

/// A time from milliseconds to days: `1.2 s`, `12 min`, `3 h 20 min`.
pub(in crate::pages) fn span(millis: u64) -> String {
    let (minutes, hours) = (millis / 60_000, millis / 3_600_000);
    match millis {
        0..60_000 => duration(millis),
        60_000..3_600_000 => format!("{minutes} min"),
        3_600_000..86_400_000 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} d {} h", hours / 24, hours % 24),
    }
}

/// An amount of data: `512 MB`, `1.0 GB`.
pub(in crate::pages) fn bytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// The cost of calls some of which have no known price; `known` is the cost of the others.
pub(in crate::pages) fn with_unpriced(known: Option<&str>) -> String {
    known.map_or_else(|| "unpriced".to_owned(), |known| format!("{known} + unpriced"))
}

/// A share as a percentage. A share above zero is never written as zero.
pub(in crate::pages) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.005 { "< 1 %".to_owned() } else { format!("{:.0} %", share * 100.0) }
}

/// A note on the costs that a chart leaves out.
pub(in crate::pages) fn unpriced_left_out(calls: u64) -> String {
    match calls {
        1 => "Without 1 unpriced call: the price of its model is not known.".to_owned(),
        calls => format!("Without {} unpriced calls: the prices of their models are not known.", grouped(calls)),
    }
}

/// The same, exactly.
pub(in crate::pages) fn unpriced_calls(known: &str, calls: u64) -> String {
    format!("{known} and {calls} calls without a known price")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative() {
        for (seconds, expected) in
            [(0, "just now"), (12, "12 s ago"), (190, "3 min ago"), (7_300, "2 h ago"), (200_000, "2 d ago")]
        {
            assert_eq!(ago(seconds), expected);
        }
    }

    #[test]
    fn small_share_is_not_nothing() {
        for (share, expected) in [(0.0, "0 %"), (0.001, "< 1 %"), (0.006, "1 %"), (0.534, "53 %"), (1.0, "100 %")] {
            assert_eq!(percent(share), expected);
        }
    }

    #[test]
    fn spans_have_the_two_units_that_fit() {
        for (millis, expected) in
            [(340, "340 ms"), (61_000, "1 min"), (12_000_000, "3 h 20 min"), (180_000_000, "2 d 2 h")]
        {
            assert_eq!(span(millis), expected);
        }
    }

    #[test]
    fn durations_have_the_unit_that_fits() {
        for (millis, expected) in [(0, "0 ms"), (999, "999 ms"), (1_240, "1.2 s"), (90_000, "1.5 min")] {
            assert_eq!(duration(millis), expected);
        }
    }
}
