//! Policies in one-line notation, for the configuration and the command line. Every error says what
//! is expected.

use model::{ANY, AllowedHours, ModelOverride, RateLimit, TimeOfDay, Weekday};

/// `mon-fri 09:00-18:00`, `sat sun 22:00-06:00`.
pub(crate) fn hours(text: &str) -> Result<AllowedHours, String> {
    let read = || {
        let (days, times) = text.trim().rsplit_once(' ')?;
        let (from, to) = times.split_once('-')?;
        let days: Option<Vec<Vec<Weekday>>> = days.split_whitespace().map(days_in).collect();
        Some(AllowedHours { days: days?.concat(), from: TimeOfDay::parse(from)?, to: TimeOfDay::parse(to)? })
    };
    read().ok_or_else(|| format!("must be days and hours like \"mon-fri 09:00-18:00\", not {text:?}"))
}

/// `mon`, or a range such as `fri-mon`.
fn days_in(text: &str) -> Option<Vec<Weekday>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (Weekday::parse(first)?, Weekday::parse(last)?);
    let mut days: Vec<Weekday> = Weekday::ALL.into_iter().cycle().skip_while(|day| *day != first).take(7).collect();
    let end = days.iter().position(|day| *day == last)?;
    days.truncate(end + 1);
    Some(days)
}

/// `60`, `openai=60` or `openai=60,100000`: calls and tokens per minute; either may be omitted.
pub(crate) fn rate(text: &str) -> Result<RateLimit, String> {
    let (provider, rates) = text.split_once('=').unwrap_or((ANY, text));
    let (requests, tokens) = rates.split_once(',').unwrap_or((rates, ""));
    let number = |text: &str| match text.trim() {
        "" => Ok(None),
        digits => digits.parse().map(Some),
    };
    match (number(requests), number(tokens)) {
        (Ok(requests_per_minute), Ok(tokens_per_minute)) => {
            Ok(RateLimit { provider: provider.trim().to_owned(), requests_per_minute, tokens_per_minute })
        }
        _ => Err(format!("must be PROVIDER=CALLS or PROVIDER=CALLS,TOKENS per minute like openai=60, not {text:?}")),
    }
}

/// `openai/gpt-large=gpt-small`, `openai/*=gpt-small`.
pub(crate) fn model(text: &str) -> Result<ModelOverride, String> {
    let read = || {
        let (asked, used) = text.split_once('=')?;
        let (provider, model) = asked.split_once('/')?;
        Some(ModelOverride { provider: provider.into(), model: model.into(), used: used.into() })
    };
    read().ok_or_else(|| format!("must be PROVIDER/MODEL=MODEL like openai/*=gpt-5-mini, not {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_read() {
        let check = |text: &str, expected: Option<&str>| {
            let parsed = hours(text).ok().map(|hours| {
                let days: Vec<&str> = hours.days.iter().map(|day| day.as_str()).collect();
                format!("{} {} {}", days.join(" "), hours.from, hours.to)
            });
            assert_eq!(parsed.as_deref(), expected, "{text}");
        };
        check("mon-fri 09:00-18:00", Some("mon tue wed thu fri 09:00 18:00"));
        check("sat-mon 22:00-06:00", Some("sat sun mon 22:00 06:00"));
        check(" mon  wed 00:00-24:00 ", Some("mon wed 00:00 24:00"));
        for wrong in ["", "mon", "09:00-18:00", "mon 9-18", "mon 09:00", "noday 09:00-18:00", "mon- 09:00-18:00"] {
            check(wrong, None);
        }
    }

    #[test]
    fn rates_and_models_are_read() {
        let check = |text: &str, expected: Option<(&str, Option<u64>, Option<u64>)>| {
            let parsed = rate(text).ok();
            let parsed = parsed.as_ref().map(|it| (it.provider.as_str(), it.requests_per_minute, it.tokens_per_minute));
            assert_eq!(parsed, expected, "{text}");
        };
        check("60", Some(("*", Some(60), None)));
        check("openai=60,9000", Some(("openai", Some(60), Some(9000))));
        check("*=,9000", Some(("*", None, Some(9000))));
        check("openai=many", None);
        check("openai=-1", None);
        assert_eq!(
            model("openrouter/a/b=c"),
            Ok(ModelOverride { provider: "openrouter".into(), model: "a/b".into(), used: "c".into() })
        );
        assert!(model("gpt=small").is_err() && model("openai/gpt").is_err());
    }
}
