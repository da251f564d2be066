//! The message of a refusal. Clients search it for words and numbers: opencode retries if it
//! contains the digits of a retryable status. So ids and exact times appear only in other fields.

use std::borrow::Cow;

use http::StatusCode;
use model::{AgentId, DeactivatedBy, Deactivation, KeyRefusal, Timestamp};

use super::{Refusal, RefusalKind};

/// Numbers that make a client retry wherever they appear in a message.
const RETRYABLE: [&str; 6] = ["429", "500", "502", "503", "504", "524"];

impl Refusal {
    /// The message for a person.
    pub(super) fn message(&self) -> String {
        let (agent, name) = self.agent_words();
        let text = match &self.kind {
            RefusalKind::Inactive { group: Some(group), .. } => format!(
                "AgentGazer stopped this call of {agent}: its group '{group}' was stopped by a person. Calls are refused until \
                 a person activates the group: run `agentgazer groups activate {group}` or use the dashboard."
            ),
            RefusalKind::Inactive { deactivation, .. } => inactive_text(&agent, name, deactivation),
            RefusalKind::OutsideHours { time_zone, group: Some(group), .. } => format!(
                "AgentGazer stopped this call of {agent}: it is outside the hours in which its group '{group}' may call (time \
                 zone {time_zone}). A person can change them: use the API."
            ),
            RefusalKind::OutsideHours { time_zone, .. } => format!(
                "AgentGazer stopped this call of {agent}: it is outside the hours in which this agent may call (time zone \
                 {time_zone}). A person can change them: run `agentgazer policy {name}` or use the dashboard."
            ),
            RefusalKind::BudgetExceeded { budget, group: Some(group), .. } => format!(
                "AgentGazer stopped this call of {agent}: the {budget} budget of its group '{group}' is spent. A person can \
                 raise it: run `agentgazer groups set {group}` or use the API."
            ),
            RefusalKind::BudgetExceeded { budget, .. } => format!(
                "AgentGazer stopped this call of {agent}: its {budget} budget is spent. A person can raise it: run \
                 `agentgazer policy {name}` or use the dashboard."
            ),
            RefusalKind::BudgetHeld { retry_after_seconds } => format!(
                "AgentGazer stopped this call of {agent}: its calls in flight may take what is left of its budget. Try again \
                 in {retry_after_seconds} s."
            ),
            RefusalKind::RateLimited { retry_after_seconds, group: Some(group) } => format!(
                "AgentGazer stopped this call of {agent}: its group '{group}' called as often as it may for the moment. Try \
                 again in {retry_after_seconds} s."
            ),
            RefusalKind::RateLimited { retry_after_seconds, .. } => format!(
                "AgentGazer stopped this call of {agent}: it called as often as it may for the moment. Try again in \
                 {retry_after_seconds} s."
            ),
            RefusalKind::LoopDetected { retry_after_seconds } => format!(
                "AgentGazer stopped this call of {agent}: it repeats earlier calls without progress. The agent is still \
                 active: send another prompt, or nothing like this for {retry_after_seconds} s."
            ),
            RefusalKind::Unauthorized { why, agents } => unauthorized_text(*why, agents.as_deref().unwrap_or_default()),
            RefusalKind::Error { message, .. } => message.clone(),
        };
        if is_retryable(self.kind.status()) { text } else { without_retryable_numbers(&text).into_owned() }
    }

    /// The agent's name in the message and in a command.
    fn agent_words(&self) -> (String, &str) {
        match self.agent.as_ref().map_or("", AgentId::as_str) {
            name if has_retryable_number(name) => ("this agent".to_owned(), "NAME"),
            name => (format!("agent '{name}'"), name),
        }
    }
}

fn inactive_text(agent: &str, name: &str, deactivation: &Deactivation) -> String {
    let (by, why) = match deactivation.by {
        DeactivatedBy::KillSwitch => ("the AgentGazer kill switch", " because it was stuck in a loop"),
        DeactivatedBy::Manual => ("a person", ""),
    };
    let (first, rest) = agent.split_at(1);
    format!(
        "{}{rest} was deactivated by {by} at {at}{why}. Its calls are refused until a person activates it again: run \
         `agentgazer activate {name}` or use the dashboard.",
        first.to_uppercase(),
        at = minute(deactivation.at),
    )
}

/// A caller is not told whether its key was mistyped, never existed or was revoked.
fn unauthorized_text(why: KeyRefusal, agents: &str) -> String {
    let ask = "A person can make one: run `agentgazer keys create` or use the dashboard.";
    // Names have no slash, so a client that calls itself team-a/x is told what to write.
    let hint = if agents.contains('/') { " The slash stands for . or : or @ in the agent's name." } else { "" };
    let what = match why {
        KeyRefusal::Missing => format!(
            "it comes without an agent key, and this proxy asks for one. Put it where this client has the key of its \
             provider. {ask}"
        ),
        KeyRefusal::Malformed | KeyRefusal::Unknown => format!("its agent key is not valid here. {ask}"),
        KeyRefusal::Expired => format!("its agent key has expired. {ask}"),
        KeyRefusal::OtherAgent => format!("its agent key is for '{agents}', and the path names another agent.{hint}"),
        KeyRefusal::NoAgent => format!(
            "its agent key is for several agents, '{agents}', so the path must say which one calls: \
             /agents/NAME/PROVIDER/….{hint}"
        ),
        KeyRefusal::Several => "it comes with two different agent keys. Send one of them.".to_owned(),
        KeyRefusal::BadToken => format!("{agents}."),
    };
    format!("AgentGazer stopped this call: {what}")
}

/// `2026-11-15 21:18 UTC`: only the year has more than two digits.
fn minute(time: Timestamp) -> String {
    let text = time.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => text,
    }
}

/// Whether clients retry at this status regardless of the message.
fn is_retryable(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

fn has_retryable_number(text: &str) -> bool {
    RETRYABLE.iter().any(|number| text.contains(number))
}

/// Replaces each run of digits that contains a retryable status with `…`.
fn without_retryable_numbers(text: &str) -> Cow<'_, str> {
    if !has_retryable_number(text) {
        return Cow::Borrowed(text);
    }
    let is_digit = |character: char| character.is_ascii_digit();
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_digit) {
        let length = rest[start..].find(|character| !is_digit(character)).unwrap_or(rest.len() - start);
        let (run, after) = rest[start..].split_at(length);
        kept.push_str(&rest[..start]);
        kept.push_str(if has_retryable_number(run) { "…" } else { run });
        rest = after;
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_of_retryable_statuses_are_masked() {
        for (text, expected) in [
            ("at most 33554432 bytes", "at most 33554432 bytes"),
            ("at most 5242880 bytes", "at most … bytes"),
            ("known are: llm-500, llm-400", "known are: llm-…, llm-400"),
            ("1429", "…"),
            ("4 29", "4 29"),
        ] {
            assert_eq!(without_retryable_numbers(text), expected);
        }
    }
}
