//! Times of the day, and the hours in which an agent may call.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Weekday;

/// A time of day, to the minute: `00:00` to `24:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    /// The error message for an invalid time.
    pub const EXPECTED: &str = "must be a time of day from 00:00 to 24:00, like 09:30";
    /// The end of the day.
    pub const MIDNIGHT: TimeOfDay = TimeOfDay(24 * 60);

    /// Parses `HH:MM`.
    pub fn parse(text: &str) -> Option<TimeOfDay> {
        let [tens, ones, b':', minute_tens, minute_ones] = *text.as_bytes() else { return None };
        let number = |tens: u8, ones: u8| {
            let digit = |byte: u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0'));
            Some(digit(tens)? * 10 + digit(ones)?)
        };
        let (hour, minute) = (number(tens, ones)?, number(minute_tens, minute_ones)?);
        let time = TimeOfDay(hour * 60 + minute);
        (minute < 60 && time <= TimeOfDay::MIDNIGHT).then_some(time)
    }

    /// Minutes since midnight.
    pub fn minutes(self) -> u16 {
        self.0
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl Serialize for TimeOfDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeOfDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        TimeOfDay::parse(&text).ok_or_else(|| serde::de::Error::custom(TimeOfDay::EXPECTED))
    }
}

/// Hours in which an agent may call, on some days of the week. A range that ends before it begins
/// ends on the next day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowedHours {
    /// The days on which it begins.
    pub days: Vec<Weekday>,
    /// Its first minute.
    pub from: TimeOfDay,
    /// The minute after its last.
    pub to: TimeOfDay,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_are_read_strictly() {
        let check = |text: &str, expected: Option<u16>| {
            let time = TimeOfDay::parse(text);
            assert_eq!(time.map(TimeOfDay::minutes), expected, "{text}");
            assert!(time.is_none_or(|time| time.to_string() == text));
        };
        check("00:00", Some(0));
        check("09:30", Some(570));
        check("23:59", Some(1439));
        check("24:00", Some(1440));
        for wrong in ["", "9:30", "24:01", "12:60", "99:99", "12-30", "+1:30", "09:30:00", "٠٩:٣٠"] {
            check(wrong, None);
        }
    }
}
