//! The period of statistics: `range=24h`, or `from` and `to`.

use model::Timestamp;
use serde::Deserialize;
use store::Period;
use utoipa::IntoParams;

use crate::problem::Problem;

/// The longest range, in days.
const LONGEST_DAYS: u32 = 400;

/// The parameters of a period.
#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RangeQuery {
    /// How far back, in hours or days, such as `1h`, `24h`, `7d` or `30d` (the default is `24h`).
    /// Figures are kept by the hour: the hour that runs is the last one.
    range: Option<String>,
    /// From the hour of this time on (RFC 3339), instead of `range`.
    #[param(value_type = Option<String>, format = DateTime)]
    from: Option<Timestamp>,
    /// To the end of the hour of this time; without it, until now.
    #[param(value_type = Option<String>, format = DateTime)]
    to: Option<Timestamp>,
}

impl RangeQuery {
    /// The period, or the invalid parameter.
    pub(crate) fn period(&self, now: Timestamp) -> Result<Period, Problem> {
        match (&self.range, self.from, self.to) {
            (None, None, Some(_)) => Err(Problem::field("from", "must be given with to")),
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                Err(Problem::field("range", "must not be given with from and to"))
            }
            (None, Some(from), to) => between(from, to.unwrap_or(now), now),
            (range, None, None) => {
                let range = range.as_deref().unwrap_or("24h");
                let hours = hours(range).ok_or_else(|| {
                    Problem::field("range", format!("must be hours or days such as 24h or 7d, at most {LONGEST_DAYS}d"))
                })?;
                Ok(Period::last_hours(hours, now))
            }
        }
    }
}

fn between(from: Timestamp, to: Timestamp, now: Timestamp) -> Result<Period, Problem> {
    const DAY_MS: u64 = 24 * 60 * 60 * 1000;
    if to <= from {
        return Err(Problem::field("to", "must be after from"));
    }
    if to.millis_since(from) > u64::from(LONGEST_DAYS) * DAY_MS {
        return Err(Problem::field("from", format!("must be at most {LONGEST_DAYS} days before to")));
    }
    Ok(Period::between(from, to, now))
}

/// `24h` and `7d` in hours.
fn hours(range: &str) -> Option<u32> {
    let (number, unit) = range.split_at_checked(range.len().checked_sub(1)?)?;
    let factor = match unit {
        "h" => 1,
        "d" => 24,
        _ => return None,
    };
    // `parse` would take a sign, too.
    let number: u32 =
        if number.bytes().all(|byte| byte.is_ascii_digit()) { number.parse().ok()? } else { return None };
    number.checked_mul(factor).filter(|hours| (1..=LONGEST_DAYS * 24).contains(hours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_takes_hours_or_days() {
        for (range, expected) in [("1h", 1), ("24h", 24), ("7d", 168), ("400d", 9600)] {
            assert_eq!(hours(range), Some(expected), "{range}");
        }
        for bad in ["", "h", "0h", "24", "+1h", "-1h", "1w", "401d", "99999999999d", "1.5h", "ä"] {
            assert_eq!(hours(bad), None, "{bad}");
        }
    }
}
