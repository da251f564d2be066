//! The words of the page of groups.

pub(in crate::pages) const DOLLARS: &str = "must be a number of dollars";
pub(in crate::pages) const WHOLE: &str = "must be a whole number";
pub(in crate::pages) const PERIODS: [&str; 3] = ["today", "this week", "this month"];

/// How many groups there are.
pub(in crate::pages) fn summary(count: usize) -> String {
    match count {
        0 => "No groups".to_owned(),
        1 => "1 group".to_owned(),
        count => format!("{count} groups"),
    }
}

pub(in crate::pages) fn budget(spent: &str, limit: &str, period: &str) -> String {
    format!("{spent} of {limit} {period}")
}

pub(in crate::pages) fn rate(rate: u64, provider: &str) -> String {
    if provider == "*" { format!("{rate} calls a minute") } else { format!("{rate} calls a minute to {provider}") }
}

/// The settings of new agents.
pub(in crate::pages) fn new_agents(enabled: Option<bool>) -> &'static str {
    match enabled {
        Some(true) => "kill switch on",
        Some(false) => "kill switch off",
        None => "as other agents",
    }
}

/// The word of the form for a kill switch.
pub(in crate::pages) fn on_or_off(enabled: Option<bool>) -> &'static str {
    match enabled {
        Some(true) => "on",
        Some(false) => "off",
        None => "",
    }
}
