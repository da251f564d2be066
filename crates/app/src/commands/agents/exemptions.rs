//! `exemptions AGENT`: lists exemptions, creates one from a false alarm, revokes one.

use http::Method;
use model::{AgentId, ExemptionId, Timestamp};
use serde::Deserialize;
use serde_json::json;

use super::activation::agent_id;
use crate::cli::{ExemptArg, ExemptionsArgs};
use crate::client;
use crate::commands::client;
use crate::commands::incidents::incident_id;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;
use crate::text;

/// How much of a text fits in a row.
const TEXT_LENGTH: usize = 60;

/// The fields of an exemption that are shown.
#[derive(Deserialize)]
struct Exemption {
    id: String,
    what: String,
    text: String,
    until: String,
}

/// `exemptions AGENT`.
pub fn exemptions(args: &ExemptionsArgs) -> Result<(), Failure> {
    let agent = agent_id(&args.agent)?;
    match (&args.incident, &args.revoke) {
        (Some(incident), _) => make(args, &agent, incident_id(incident)?),
        (None, Some(id)) => revoke(args, &agent, id),
        (None, None) => list(args, &agent),
    }
}

fn list(args: &ExemptionsArgs, agent: &AgentId) -> Result<(), Failure> {
    let path = format!("/api/agents/{agent}/exemptions");
    let items = on_one_thread(async { client(&args.server)?.items(&path).await })?;
    if args.server.json {
        return print::json_list(&items);
    }
    let rows = items.iter().map(|item| Ok(row(client::read(item.get())?))).collect::<Result<_, Failure>>()?;
    print::table(&["NOT COUNTED", "TEXT", "UNTIL (UTC)", "EXEMPTION"], rows, "Everything counts.")
}

fn row(exemption: Exemption) -> Vec<String> {
    let text = text::shortened(&exemption.text, TEXT_LENGTH);
    vec![exemption.what, text, print::time(&exemption.until), exemption.id]
}

fn make(args: &ExemptionsArgs, agent: &AgentId, incident: &str) -> Result<(), Failure> {
    let what = match args.what {
        Some(ExemptArg::ToolCall) => "tool_call",
        Some(ExemptArg::Prompt) | None => "prompt",
    };
    let body =
        json!({ "incident_id": incident, "what": what, "until": end(args.until.as_deref().unwrap_or_default())? });
    let path = format!("/api/agents/{agent}/exemptions");
    let answer = on_one_thread(async { client(&args.server)?.change(Method::POST, &path, &body).await })?;
    if args.server.json {
        return print::json(&answer);
    }
    let made: Exemption = client::read(&answer)?;
    let until = print::time(&made.until);
    print::line(&format!("{agent}: this {what} does not count until {until} UTC. `--revoke {}` ends it.", made.id))
}

fn end(when: &str) -> Result<Timestamp, Failure> {
    let mistake = || Failure::new(Exit::Usage, "--until must be a day such as 2026-12-24, or a time in RFC 3339");
    text::end_of_day(when).ok_or_else(mistake)
}

fn revoke(args: &ExemptionsArgs, agent: &AgentId, id: &str) -> Result<(), Failure> {
    let parsed = ExemptionId::parse(id);
    let id = parsed.ok_or_else(|| Failure::new(Exit::Usage, format!("{id:?} is no id of an exemption")))?;
    let path = format!("/api/agents/{agent}/exemptions/{id}");
    on_one_thread(async { client(&args.server)?.delete(&path).await })?;
    print::line(&format!("Revoked: it counts again for {agent}, from the next call on."))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn exemption_until_a_day_lasts_to_its_end() {
        let check = |when: &str, expected: Option<&str>| {
            assert_eq!(end(when).ok().map(|end| end.to_string()).as_deref(), expected, "{when}");
        };
        check("2026-12-24", Some("2026-12-25T00:00:00.000Z"));
        check("2026-12-24T10:00:00+01:00", Some("2026-12-24T09:00:00.000Z"));
        check("tomorrow", None);
        check("", None);
    }

    #[test]
    fn an_exemption_is_one_row() {
        let json = r#"{"id":"0191","agent_id":"bot","what":"prompt","text":"Look into\nthe inbox","incident_id":"0190",
            "created_at":"2026-12-01T00:00:00.000Z","until":"2026-12-25T00:00:00.000Z"}"#;
        let cells = row(serde_json::from_str(json).unwrap());
        assert_eq!(cells, ["prompt", "Look into the inbox", "2026-12-25 00:00:00", "0191"]);
    }
}
