//! `audit`: lists the audit log of a server, and checks or exports the one in a data directory.

use std::io::Write;

use serde::Deserialize;
use serde_json::{Value, json};
use store::{AuditRow, Store, StoreConfig};

use crate::cli::{AuditArgs, AuditCommand, AuditFileArgs};
use crate::client::{self, percent_encoded};
use crate::commands::client;
use crate::config;
use crate::config::Entry;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;

/// The number of rows to list, and to read at a time.
const NEWEST: usize = 50;
const ROWS: u32 = 1000;

/// The fields of a row that are shown.
#[derive(Deserialize)]
struct Row {
    number: u64,
    timestamp: String,
    actor: Actor,
    action: String,
    target: Option<String>,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Actor {
    kind: String,
    name: String,
    /// `None` for a failed login.
    role: Option<String>,
    address: Option<String>,
}

impl Actor {
    /// With its kind: a user or a token may have any name, also that of another actor.
    fn to_text(&self) -> String {
        let who = match self.kind.as_str() {
            "user" | "token" => format!("{} {}", self.kind, self.name),
            "command_line" => "command line".to_owned(),
            _ => self.name.clone(),
        };
        let details: Vec<&str> = self.role.iter().chain(&self.address).map(String::as_str).collect();
        match details.as_slice() {
            [] => who,
            details => format!("{who} ({})", details.join(", ")),
        }
    }
}

/// `audit`.
pub fn audit(args: &AuditArgs) -> Result<(), Failure> {
    match &args.command {
        None => list(args),
        Some(AuditCommand::Verify { head, place }) => verify(head.as_deref(), place),
        Some(AuditCommand::Export(place)) => export(place),
    }
}

fn list(args: &AuditArgs) -> Result<(), Failure> {
    let filters = [("actor", &args.actor), ("action", &args.action), ("target", &args.target)];
    let filters = filters.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let query: String = filters.map(|(name, value)| format!("&{name}={}", percent_encoded(value))).collect();
    let path = format!("/api/audit?limit={NEWEST}{query}");
    let items = on_one_thread(async { client(&args.server)?.items(&path).await })?;
    if args.server.json {
        return print::json_list(&items);
    }
    let rows = items.iter().map(|item| client::read(item.get())).collect::<Result<Vec<Row>, Failure>>()?;
    let cells = |row: Row| {
        let who = row.actor.to_text();
        let (target, reason) = (row.target.unwrap_or_default(), row.reason.unwrap_or_default());
        vec![row.number.to_string(), print::time(&row.timestamp), who, row.action, target, reason]
    };
    let rows = rows.into_iter().map(cells).collect();
    print::table(&["NO.", "TIME (UTC)", "WHO", "ACTION", "TARGET", "REASON"], rows, "Nothing was changed yet.")
}

/// `audit verify`: fails if the log was changed.
fn verify(head: Option<&str>, place: &AuditFileArgs) -> Result<(), Failure> {
    let report = on_one_thread(async { Ok(open(place).await?.verify_audit(head).await?) })?;
    match report.problem {
        Some(problem) => Err(Failure::new(Exit::Failed, format!("the audit log was tampered with: {problem}"))),
        None if report.rows == 0 => print::line("The audit log is empty."),
        None => print::line(&format!("{} rows, none changed or missing. Head: {}", report.rows, report.head)),
    }
}

/// `audit export`: all rows as JSON lines.
fn export(place: &AuditFileArgs) -> Result<(), Failure> {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    on_one_thread(async {
        let store = open(place).await?;
        let mut last = 0;
        loop {
            let rows = store.audit_after(last, ROWS).await?;
            let Some(newest) = rows.last() else { break };
            last = newest.number;
            for row in &rows {
                writeln!(output, "{}", line(row))?;
            }
        }
        Ok(output.flush()?)
    })
}

fn line(row: &AuditRow) -> Value {
    let parsed = |text: &Option<String>| text.as_ref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    json!({
        "number": row.number,
        "timestamp": row.at,
        "actor": {
            "kind": row.actor_kind,
            "id": row.actor_id,
            "name": row.actor_name,
            "role": row.role,
            "address": row.address,
            "via": row.via,
        },
        "action": row.action,
        "target": row.target,
        "before": parsed(&row.before),
        "after": parsed(&row.after),
        "reason": row.reason,
        "hash": row.hash,
    })
}

async fn open(place: &AuditFileArgs) -> Result<Store, Failure> {
    let flags = place.data_dir.iter().map(|place| Entry::flag("--data-dir", "data_dir", place));
    let config = config::load(place.config.clone(), flags.collect())?;
    let postgres = config.postgres()?;
    if postgres.is_none() && !config.data_dir.join("agentgazer.db").exists() {
        let message = format!("there is no audit log in {}: say where with --data-dir", config.data_dir.display());
        return Err(Failure::new(Exit::NotFound, message));
    }
    let store_config = StoreConfig { postgres, ..StoreConfig::new(&config.data_dir, config.key_file()) };
    Ok(Store::open(store_config).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_of_the_same_name_are_told_apart() {
        let check = |kind: &str, name: &str, role: Option<&str>, expected: &str| {
            let (kind, name, role) = (kind.to_owned(), name.to_owned(), role.map(str::to_owned));
            let actor = Actor { kind, name, role, address: Some("192.0.2.1".to_owned()) };
            assert_eq!(actor.to_text(), expected);
        };
        check("user", "ann", Some("operator"), "user ann (operator, 192.0.2.1)");
        check("token", "ann", Some("operator"), "token ann (operator, 192.0.2.1)");
        check("first_token", "first token", Some("admin"), "first token (admin, 192.0.2.1)");
        check("user", "first token", Some("viewer"), "user first token (viewer, 192.0.2.1)");
        check("command_line", "first token", Some("admin"), "command line (admin, 192.0.2.1)");
        check("anonymous", "unknown", None, "unknown (192.0.2.1)");
    }
}
