//! The names of things that code lists: pages, figures, presets, the fields of a request.

use model::Timestamp;
use store::Resolution;

use crate::api::Signals;

/// The pages, as the navigation names them.
pub(in crate::pages) mod page {
    pub(in crate::pages) const OVERVIEW: &str = "Overview";
    pub(in crate::pages) const AGENTS: &str = "Agents";
    pub(in crate::pages) const INCIDENTS: &str = "Incidents";
    pub(in crate::pages) const REQUESTS: &str = "Requests";
    pub(in crate::pages) const ALERTS: &str = "Alerts";
    pub(in crate::pages) const COSTS: &str = "Costs";
    pub(in crate::pages) const GROUPS: &str = "Groups";
    pub(in crate::pages) const KEYS: &str = "Keys";
    pub(in crate::pages) const SETTINGS: &str = "Settings";
}

/// Figures and charts.
pub(in crate::pages) mod figure {
    pub(in crate::pages) const CALLS_TODAY: &str = "Calls today";
    pub(in crate::pages) const COST_TODAY: &str = "Cost today";
    pub(in crate::pages) const ERRORS_TODAY: &str = "Errors today";
    pub(in crate::pages) const INCIDENTS_TODAY: &str = "Incidents today";
    pub(in crate::pages) const CALLS: &str = "Calls";
    pub(in crate::pages) const ERRORS: &str = "Failed calls";
    pub(in crate::pages) const REFUSED: &str = "Refused calls";
    pub(in crate::pages) const MEDIAN_LATENCY: &str = "Median latency";
    pub(in crate::pages) const SLOWEST_LATENCY: &str = "95th percentile of the latency";
    pub(in crate::pages) const TOOK: &str = "Took";
    pub(in crate::pages) const COST: &str = "Cost";
    pub(in crate::pages) const DOLLARS: &str = "US dollars";
}

/// Recommended settings.
pub(in crate::pages) mod preset {
    pub(in crate::pages) const TIGHT: &str = "Tight budget control";
    pub(in crate::pages) const BALANCED: &str = "Balanced";
    pub(in crate::pages) const TOLERANT: &str = "Tolerant";
}

/// The signals of a score, and the letters that stand for them.
pub(in crate::pages) mod signal {
    pub(in crate::pages) const PROMPTS: (&str, &str) = ("P", "Similar prompts");
    pub(in crate::pages) const RESPONSES: (&str, &str) = ("R", "Similar responses");
    pub(in crate::pages) const TOOL_CALLS: (&str, &str) = ("T", "Repeated tool calls");
}

/// The fields of a request.
pub(in crate::pages) mod request {
    pub(in crate::pages) const ID: &str = "Request id";
    pub(in crate::pages) const TIME: &str = "Time (UTC)";
    pub(in crate::pages) const MODEL_ASKED: &str = "Model asked for";
    pub(in crate::pages) const STATUS: &str = "Status";
    pub(in crate::pages) const FIRST_BYTE: &str = "Time to first byte";
    pub(in crate::pages) const LATENCY: &str = "Total time";
    pub(in crate::pages) const STREAMED: &str = "Streamed";
    pub(in crate::pages) const TOKENS_IN: &str = "Tokens in";
    pub(in crate::pages) const CACHED: &str = "of them cached";
    pub(in crate::pages) const TOKENS_OUT: &str = "Tokens out";
    pub(in crate::pages) const REASONING: &str = "of them reasoning";
    pub(in crate::pages) const COST: &str = "Cost";
    pub(in crate::pages) const KEY: &str = "Agent key";
    pub(in crate::pages) const TOKEN_SUBJECT: &str = "Token of";
    pub(in crate::pages) const COUNT: &str = "Calls it stands for";
}

pub(in crate::pages) fn yes_or_no(answer: bool) -> &'static str {
    if answer { "yes" } else { "no" }
}

/// `Calls by the hour`
pub(in crate::pages) fn chart_title(what: &str, resolution: Resolution) -> String {
    match resolution {
        Resolution::Hour => format!("{what} by the hour"),
        Resolution::Day => format!("{what} by the day"),
    }
}

/// The description of a chart, for people who cannot see it.
pub(in crate::pages) fn chart(title: &str, total: Option<&str>, top: &str) -> String {
    match total {
        Some(total) => format!("{title}: {total} in all, at most {top} at a time"),
        None => format!("{title}: at most {top}"),
    }
}

/// The description of a score bar, for people who cannot see it.
pub(in crate::pages) fn score(score: f64, threshold: f64, percent: &str, signals: &Signals) -> String {
    format!(
        "Loop score {score:.1} of {threshold}, {percent}: {} similar prompts, {} similar responses, {} repeated tool calls",
        signals.similar_prompts.count, signals.similar_responses.count, signals.repeated_tool_calls.count
    )
}

/// The text in place of a chart without bars.
pub(in crate::pages) fn nothing_drawn(zero: &str) -> String {
    format!("{zero} in this time.")
}

pub(in crate::pages) const NO_CALLS: &str = "No calls in this time.";

/// A call of the what-if, on hover.
pub(in crate::pages) fn scored(time: Timestamp, score: f64) -> String {
    format!("{time}: score {score:.1}")
}

/// How many of the servers on one database report, and how many of them decide alone.
pub(in crate::pages) fn replicas(alive: usize, all: usize, alone: usize) -> String {
    let sentence = match (alive, all) {
        (1, 1) => "1 replica is alive.".to_owned(),
        (alive, all) if alive == all => format!("All {all} replicas are alive."),
        (1, all) => format!("1 of {all} replicas is alive."),
        (alive, all) => format!("{alive} of {all} replicas are alive."),
    };
    match alone {
        0 => sentence,
        1 => format!("{sentence} 1 decides alone."),
        alone => format!("{sentence} {alone} decide alone."),
    }
}

/// The token is wrong.
pub(in crate::pages) const WRONG_TOKEN: &str = "This is not the token.";

/// It does not say which of the two, so that an attacker does not learn which names exist.
pub(in crate::pages) const WRONG_PASSWORD: &str = "The name or the password is wrong.";

/// The answer of the identity provider belongs to no login of this browser.
pub(in crate::pages) const LOGIN_NOT_BEGUN: &str =
    "This login was not begun in this browser, or it took longer than ten minutes. Log in again.";

/// The identity provider refuses, or its answer is invalid.
pub(in crate::pages) const PROVIDER_REFUSED: &str =
    "The identity provider did not log you in. Log in again; the server's log says why.";

pub(in crate::pages) const PROVIDER_DOWN: &str =
    "The identity provider cannot be used at the moment. Try again, or log in with the token.";

/// The identity provider knows the person, but no role is assigned.
pub(in crate::pages) fn no_role(name: &str) -> String {
    format!(
        "You are logged in at the identity provider as {name}, but none of your groups has a role here. Ask an admin."
    )
}

pub(in crate::pages) fn too_many_tokens(seconds: u64) -> String {
    format!("Too many wrong attempts. Try again in {seconds} s.")
}
