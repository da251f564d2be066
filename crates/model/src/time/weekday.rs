//! Days of the week.

use serde::{Deserialize, Serialize};

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[allow(missing_docs, reason = "the names say it")]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Weekday {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

impl Weekday {
    /// All days, from Monday on.
    pub const ALL: [Weekday; 7] =
        [Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri, Weekday::Sat, Weekday::Sun];

    /// Its name in API and docs.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Parses its name.
    pub fn parse(word: &str) -> Option<Weekday> {
        word.parse().ok()
    }

    /// The day before it.
    pub fn yesterday(self) -> Weekday {
        Self::ALL[(self as usize + 6) % 7]
    }
}
