//! The words for problems. Forms name their fields as the page does. The API checks fields, so its
//! words say what a field takes.

use axum::http::StatusCode;
use model::FieldError;

use crate::problem::Problem;

/// The title of a page that shows a problem.
pub(in crate::pages) fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => "There is nothing here",
        StatusCode::FORBIDDEN => "That was refused",
        StatusCode::CONFLICT => "That cannot be done now",
        StatusCode::SERVICE_UNAVAILABLE => "The database cannot be used",
        status if status.is_server_error() => "Something went wrong",
        _ => "That was not understood",
    }
}

pub(in crate::pages) fn nothing_at(path: &str) -> String {
    format!("There is nothing at {path}.")
}

pub(in crate::pages) fn no_request(id: impl std::fmt::Display) -> String {
    format!("There is no request {id}. It may be older than what is kept.")
}

pub(in crate::pages) const NO_FILE: &str = "There is no such file.";
pub(in crate::pages) const NO_BODY: &str = "There is no such body. It may not have been kept.";

/// The values of fields that only pages check.
pub(in crate::pages) mod takes {
    pub(in crate::pages) const WINDOW_SIZE: &str = "must be a whole number from 2 to 500";
    pub(in crate::pages) const THRESHOLD: &str = "must be a number above 0, at most 10000";
    pub(in crate::pages) const DOLLARS: &str = "must be a number of dollars from 0 to 1000000, or empty for no budget";
    pub(in crate::pages) const RATE: &str = "must be a whole number, or empty for no limit";
    pub(in crate::pages) const PORT: &str = "must be a port from 1 to 65535, or empty for the usual one";
    pub(in crate::pages) const DAY: &str = "must be a day such as 2026-12-24";
    pub(in crate::pages) const AGENT: &str = "must be the id of an agent";
    pub(in crate::pages) const SELECTED: &str = "must be one of on, off, activate";
    pub(in crate::pages) const THEME: &str = "must be one of system, light, dark";
}

/// The text of a problem.
pub(in crate::pages) fn explanation(problem: &Problem) -> String {
    match problem.wrong_field() {
        Some((field, message)) => field_is_wrong(field, message),
        None => problem.detail(),
    }
}

/// The error in a field of a form.
pub(in crate::pages) fn wrong(error: &FieldError) -> String {
    field_is_wrong(error.field, &error.message)
}

fn field_is_wrong(field: &str, message: &str) -> String {
    // Settings for all agents are prefixed with the name of their group.
    let field = field.rsplit('.').next().unwrap_or(field);
    let name = field_name(field);
    // A `null` of the API is an empty field on a page.
    let message = message.replace("or null", "or empty").replace("be null", "be empty");
    // `2: days must …` is about the second line.
    match message.split_once(": ").filter(|(line, _)| line.parse::<usize>().is_ok()) {
        Some((line, message)) => format!("{name}, line {line}: {message}"),
        None => format!("{name} {message}"),
    }
}

/// The name of a field on the pages; a field that is on no page keeps its own name.
pub(in crate::pages) fn field_name(field: &str) -> &str {
    match field {
        "window_size" | "window" => "Window size",
        "threshold" => "Threshold",
        "action" => "When it fires",
        "counting" => "Counting",
        "event_days" => "Requests, in days",
        "incident_days" => "Incidents, in days",
        "statistics_days" => "Statistics, in days",
        "budget_daily_usd" => "Budget per day",
        "budget_weekly_usd" => "Budget per week",
        "budget_monthly_usd" => "Budget per month",
        "budget_conversation_usd" => "Budget per conversation",
        "time_zone" => "Time zone",
        "allowed_hours" => "Allowed hours",
        "rate_limits" => "Rates",
        "model_overrides" => "Models",
        "active" => "Active",
        "enabled" => "On",
        "agents" => "Agents",
        "labels" => "Labels",
        "stopped_at" => "Stopped",
        "role" => "Role",
        "policy" => "Policy",
        "expires_at" => "Expires",
        "name" => "Name",
        "kind" => "Kind",
        "url" | "base_url" => "Address",
        "key" => "Key",
        "has_key" => "Has a key",
        "format" => "Format",
        "to" => "To",
        "bot_token" => "Bot token",
        "chat_id" => "Chat",
        "rule_type" => "When",
        "agent" | "agent_id" => "Agent",
        "channels" => "Told to",
        "minutes" => "Minutes",
        "percent" => "Percent",
        "amount_usd" => "US dollars",
        "period" => "Period",
        "cooldown_minutes" => "Quiet for",
        "repeat_minutes" => "Again every",
        "host" => "Host",
        "port" => "Port",
        "security" => "Security",
        "username" => "User",
        "password" => "Password",
        "from" => "From",
        "until" => "Until the end of",
        "attempts" => "Attempts",
        "how" => "With",
        "why" => "Why",
        other => other,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use model::{Policy, PolicyChange};

    use super::*;

    #[test]
    fn problem_names_the_field_as_the_page_does() {
        let check = |json: &str, expected: &str| {
            let change: PolicyChange = serde_json::from_str(json).unwrap();
            assert_eq!(wrong(&change.apply(&Policy::default()).unwrap_err()), expected);
        };
        check(
            r#"{"budget_daily_usd":-1}"#,
            "Budget per day must be a number of dollars from 0 to 1000000, or empty for no budget",
        );
        check(
            r#"{"allowed_hours":[{"days":["mon"],"from":"01:00","to":"02:00"},{"days":[],"from":"01:00","to":"02:00"}]}"#,
            "Allowed hours, line 2: days must name at least one of mon, tue, wed, thu, fri, sat, sun",
        );
    }

    #[test]
    fn a_problem_names_its_field_or_none() {
        for (problem, expected) in [
            (Problem::field("cooldown_minutes", "must be given"), "Quiet for must be given"),
            (Problem::field("retention.event_days", "must be more"), "Requests, in days must be more"),
            (Problem::field("unheard", "of"), "unheard of"),
            (Problem::bad_request("It rains."), "It rains."),
        ] {
            assert_eq!(explanation(&problem), expected);
        }
    }
}
