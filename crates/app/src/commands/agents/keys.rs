//! `keys`: lists, creates and revokes agent keys.

use http::Method;
use model::AgentKeyId;
use serde::Deserialize;
use serde_json::json;

use crate::cli::{CreateKeyArgs, KeysArgs, KeysCommand, RevokeKeyArgs, ServerArgs};
use crate::client;
use crate::commands::client;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;
use crate::text::end_of_day;

const PATH: &str = "/api/agent-keys";

/// The fields of a key that are shown.
#[derive(Deserialize)]
struct Key {
    id: String,
    agent: String,
    name: Option<String>,
    expires_at: Option<String>,
    last_used_at: Option<String>,
}

/// The clients whose keys were refused.
#[derive(Deserialize)]
struct Status {
    refused_callers: Vec<RefusedCaller>,
}

#[derive(Deserialize)]
struct RefusedCaller {
    address: String,
    count: u64,
    last_at: String,
}

/// The most clients with wrong keys that are listed.
const MOST_CALLERS: usize = 10;

/// A new key.
#[derive(Deserialize)]
struct Created {
    id: String,
    key: String,
    agent: String,
}

/// `keys`.
pub fn keys(args: &KeysArgs) -> Result<(), Failure> {
    match &args.command {
        None => list(&args.server),
        Some(KeysCommand::List(server)) => list(server),
        Some(KeysCommand::Create(args)) => create(args),
        Some(KeysCommand::Revoke(args)) => revoke(args),
    }
}

fn list(server: &ServerArgs) -> Result<(), Failure> {
    let (items, status) = on_one_thread(async {
        let client = client(server)?;
        Ok::<_, Failure>((client.items(PATH).await?, client.get("/api/status").await?))
    })?;
    if server.json {
        return print::json_list(&items);
    }
    let rows = items.iter().map(|item| Ok(row(client::read(item.get())?))).collect::<Result<_, Failure>>()?;
    let nothing = "No agent keys. `agentgazer keys create AGENT` makes one.";
    print::table(&["AGENT", "NAME", "LAST USED (UTC)", "EXPIRES (UTC)", "KEY"], rows, nothing)?;
    let Status { refused_callers } = client::read(&status)?;
    refused_callers.into_iter().take(MOST_CALLERS).try_for_each(|caller| print::line(&refused(&caller)))
}

fn refused(caller: &RefusedCaller) -> String {
    let RefusedCaller { address, count, last_at } = caller;
    let calls = if *count == 1 { "1 call".to_owned() } else { format!("{count} calls") };
    format!(
        "Refused since the start: {calls} with a wrong key from {address}, the last at {} (UTC)",
        print::time(last_at)
    )
}

fn row(key: Key) -> Vec<String> {
    let time = |at: Option<String>| at.map_or_else(|| "never".to_owned(), |at| print::time(&at));
    vec![key.agent, key.name.unwrap_or_default(), time(key.last_used_at), time(key.expires_at), key.id]
}

fn create(args: &CreateKeyArgs) -> Result<(), Failure> {
    let mut body = json!({ "agent": args.agent });
    if let Some(name) = &args.name {
        body["name"] = json!(name);
    }
    if let Some(when) = &args.expires {
        let mistake = || Failure::new(Exit::Usage, "--expires must be a day such as 2026-12-24, or a time in RFC 3339");
        body["expires_at"] = json!(end_of_day(when).ok_or_else(mistake)?);
    }
    let answer = on_one_thread(async { client(&args.server)?.change(Method::POST, PATH, &body).await })?;
    if args.server.json {
        return print::json(&answer);
    }
    let Created { id, key, agent } = client::read(&answer)?;
    print::line(&key)?;
    // On standard error, so that the key alone can be piped from standard output.
    let _ = std::io::Write::write_fmt(
        &mut anstream::stderr(),
        format_args!(
            "The key of {agent}. It is shown this once: give it to the client in place of the provider's key.\n\
             `agentgazer keys revoke {id}` ends it.\n"
        ),
    );
    Ok(())
}

fn revoke(args: &RevokeKeyArgs) -> Result<(), Failure> {
    let parsed = AgentKeyId::parse(&args.id);
    let id = parsed.ok_or_else(|| Failure::new(Exit::Usage, format!("{:?} is not the id of an agent key", args.id)))?;
    on_one_thread(async { client(&args.server)?.delete(&format!("{PATH}/{id}")).await })?;
    print::line(&format!("Revoked {id}: the next call with it is refused."))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn a_key_is_one_row() {
        let json = r#"{"id":"0191","agent":"team-a/*","name":"ci","created_at":"2026-12-01T00:00:00.000Z",
            "expires_at":null,"last_used_at":"2026-12-25T00:00:00.000Z","refused":0}"#;
        let cells = row(serde_json::from_str(json).unwrap());
        assert_eq!(cells, ["team-a/*", "ci", "2026-12-25 00:00:00", "never", "0191"]);
        let json = r#"{"address":"203.0.113.7","count":2,"last_at":"2026-12-25T00:00:00.123Z"}"#;
        let said = refused(&serde_json::from_str(json).unwrap());
        assert!(said.ends_with("2 calls with a wrong key from 203.0.113.7, the last at 2026-12-25 00:00:00 (UTC)"));
    }
}
