//! The words of the page of drills.

use crate::drill::DrillReport;

pub(in crate::pages) const BEFORE: &str = "Test whether a loop is stopped and who is told.";
pub(in crate::pages) const NONE: &str = "This server cannot run drills.";

/// The result of a drill, and whether it is a failure.
pub(in crate::pages) fn summary(ran: &Result<DrillReport, String>) -> (String, bool) {
    let report = match ran {
        Err(why) => return (format!("The drill could not be finished: {why}."), true),
        Ok(report) => report,
    };
    if let Some(failure) = &report.failure {
        return (format!("The loop was stopped at call {}, but: {failure}.", report.calls), true);
    }
    let told = report.channels.iter().filter(|line| line.is_delivered).count();
    let channels = if told == 1 { "channel was" } else { "channels were" };
    (format!("The loop was stopped at call {}, and {told} {channels} told.", report.calls), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drill::DrillLine;

    #[test]
    fn summary_says_who_was_notified_or_what_is_missing() {
        let line = |is_delivered| DrillLine {
            channel: "ops".to_owned(),
            kind: "webhook".to_owned(),
            state: String::new(),
            is_delivered,
            after_ms: None,
            answer: String::new(),
        };
        let report = |failure: Option<&str>, channels| {
            let failure = failure.map(str::to_owned);
            Ok(DrillReport { calls: 4, killed_in_ms: 1, activated: true, channels, failure })
        };
        let told = summary(&report(None, vec![line(true), line(false)]));
        assert_eq!(told, ("The loop was stopped at call 4, and 1 channel was told.".to_owned(), false));
        let untold = summary(&report(Some("no one would be told: add a channel"), vec![]));
        assert_eq!(
            untold,
            ("The loop was stopped at call 4, but: no one would be told: add a channel.".to_owned(), true)
        );
        assert!(summary(&Err("the proxy does not answer".to_owned())).1);
    }
}
