//! `tokens`: lists, creates and revokes API tokens.

use http::Method;
use model::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{find, role, shown_role};
use crate::cli::{RoleArg, ServerArgs, TokensArgs, TokensCommand};
use crate::client;
use crate::commands::client;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;
use crate::text::printable;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The fields of a token that are shown.
#[derive(Deserialize)]
struct ApiToken {
    id: String,
    name: String,
    role: String,
    groups: Option<Vec<String>>,
    expires_at: Option<String>,
    last_used_at: Option<String>,
}

/// `tokens`.
pub fn tokens(args: &TokensArgs) -> Result<(), Failure> {
    match &args.command {
        None => list(&args.server),
        Some(TokensCommand::List(server)) => list(server),
        Some(TokensCommand::Create { name, role, groups, until, server }) => {
            create(name, (*role, groups), until.as_deref(), server)
        }
        Some(TokensCommand::Revoke { which, server }) => revoke(which, server),
    }
}

fn list(args: &ServerArgs) -> Result<(), Failure> {
    let items = on_one_thread(async { client(args)?.items("/api/tokens").await })?;
    if args.json {
        return print::json_list(&items);
    }
    let tokens = items.iter().map(|item| client::read(item.get())).collect::<Result<Vec<ApiToken>, Failure>>()?;
    let row = |token: ApiToken| {
        let time = |time: Option<String>| time.as_deref().map_or_else(|| "never".to_owned(), print::time);
        let role = shown_role(&token.role, token.groups.as_deref());
        vec![token.name, role, time(token.last_used_at), time(token.expires_at), token.id]
    };
    let rows = tokens.into_iter().map(row).collect();
    print::table(
        &["NAME", "ROLE", "LAST USED (UTC)", "EXPIRES (UTC)", "ID"],
        rows,
        "No API tokens. `agentgazer tokens create NAME --role ROLE` makes one.",
    )
}

fn create(
    name: &str,
    (given_role, groups): (RoleArg, &[String]),
    until: Option<&str>,
    args: &ServerArgs,
) -> Result<(), Failure> {
    let mut body = json!({"name": name, "role": role(given_role)});
    if !groups.is_empty() {
        body["groups"] = groups.into();
    }
    if let Some(until) = until {
        body["expires_at"] = end(until)?.to_string().into();
    }
    let answer = on_one_thread(async { client(args)?.change(Method::POST, "/api/tokens", &body).await })?;
    if args.json {
        return print::json(&answer);
    }
    let made: Value = client::read(&answer)?;
    let token = made.get("token").and_then(Value::as_str).unwrap_or_default();
    let role = shown_role(role(given_role), Some(groups).filter(|groups| !groups.is_empty()));
    print::line(&printable(&format!("The token {name} ({role}), which is not shown again:")))?;
    print::line(&printable(token))
}

fn revoke(token: &str, args: &ServerArgs) -> Result<(), Failure> {
    on_one_thread(async {
        let client = client(args)?;
        let id = find(&client, "token", token).await?;
        client.delete(&format!("/api/tokens/{id}")).await
    })?;
    if args.json { Ok(()) } else { print::line(&printable(&format!("{token} is revoked."))) }
}

/// A time, or the end of a day in UTC.
fn end(when: &str) -> Result<Timestamp, Failure> {
    let day = || {
        let begin = Timestamp::parse(&format!("{when}T00:00:00Z"))?;
        Some(Timestamp::from_millis(begin.as_millis() + DAY_MS))
    };
    let wrong = || Failure::new(Exit::Usage, format!("{when:?} is neither a day like 2026-12-24 nor a time"));
    Timestamp::parse(when).or_else(day).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn token_holds_until_the_end_of_a_day_or_a_time() {
        assert_eq!(end("2026-12-24").unwrap().to_string(), "2026-12-25T00:00:00.000Z");
        assert_eq!(end("2026-12-24T10:00:00Z").unwrap().to_string(), "2026-12-24T10:00:00.000Z");
        assert_eq!(end("tomorrow").unwrap_err().exit, Exit::Usage);
    }
}
