use std::collections::BTreeMap;

use super::alerts::rule;
use super::*;
use crate::ExemptionRow;
use model::{Condition, Exempt, Exemption, ExemptionId};
use sqlx::Row;

/// The retention of each table. The test fails for a table that is not listed.
const KEPT: [(&str, &str); 27] = [
    ("agent_groups", "until deleted"),
    ("agent_keys", "until revoked"),
    ("agent_minutes", "a day"),
    ("agent_sums", "statistics_days"),
    ("agents", "until deleted"),
    ("alert_rules", "until deleted"),
    ("alert_states", "with rule and agent"),
    ("api_tokens", "until revoked"),
    ("audit", "for ever"),
    ("audit_head", "for ever, one row"),
    ("channels", "until deleted"),
    ("conversations", "like hours"),
    ("deliveries", "like incidents"),
    ("delivery_attempts", "with delivery"),
    ("events", "event_days"),
    ("evidence", "with incident"),
    ("exemptions", "until over"),
    ("group_spending", "like hours, with group"),
    ("incidents", "incident_days"),
    ("policies", "until reset, with agent"),
    ("providers", "until deleted"),
    ("rollups", "statistics_days"),
    ("settings", "until reset"),
    ("sums_made", "for ever, four rows"),
    ("unscored", "like hours"),
    ("users", "until deleted"),
    ("_sqlx_migrations", "for ever"),
];

impl Fixture {
    async fn tables(&self) -> Vec<String> {
        let query = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name";
        sqlx::query_scalar(query).fetch_all(self.store.readers.sqlite()).await.unwrap()
    }

    async fn columns(&self, table: &str) -> Vec<String> {
        let query = sqlx::query("select name from pragma_table_info($1)").bind(table.to_owned());
        let rows = query.fetch_all(self.store.readers.sqlite()).await.unwrap();
        rows.iter().map(|row| row.get("name")).collect()
    }

    /// The number of rows that name `agent` in any column, by table; and the number of rows in
    /// tables that name no agent but belong to such a row.
    pub(super) async fn rows_of(&self, agent: &str) -> BTreeMap<String, i64> {
        let mut rows = BTreeMap::new();
        for table in self.tables().await {
            let columns = self.columns(&table).await;
            let column = if table == "agents" {
                Some("id")
            } else {
                // The groups that a person is limited to are not agents.
                columns.iter().map(String::as_str).find(|it| it.contains("agent") && *it != "agent_groups")
            };
            let condition = match (column, table.as_str()) {
                // They name agents that may never have existed, and outlive them.
                (_, "agent_keys" | "agent_groups") => continue,
                (Some(column), _) => format!("{column} = '{agent}'"),
                (None, "evidence" | "delivery_attempts") => "true".to_owned(),
                (None, _) => continue,
            };
            let query = sqlx::AssertSqlSafe(format!("select count(*) from {table} where {condition}"));
            rows.insert(table, sqlx::query_scalar(query).fetch_one(self.store.readers.sqlite()).await.unwrap());
        }
        rows
    }

    /// Gives `agent` a row in every table that can hold one.
    pub(super) async fn add_row_to_every_table(&self, agent: &str) {
        let mut event = scored(agent, 0, 1);
        event.conversation = Some("one".to_owned());
        let earlier = Event {
            time: Timestamp::from_millis(NOON.as_millis() - 60 * 60 * 1000),
            unscored: Some(model::Unscored::NoConversation),
            ..call(agent)
        };
        self.record_all(vec![earlier, event]).await;
        // The earlier hour is over: its sums are made.
        let sums = async {
            while self.rows_of(agent).await["agent_sums"] == 0 {
                self.recorder.catch_up().await;
            }
        };
        in_time("sums of the earlier hour", sums).await;
        let channel = self.channel(&format!("ops-{agent}")).await;
        self.rule(rule(agent, Condition::KillSwitch, &[channel])).await;
        let incident = self.kill(agent, 0).await;
        let delivery = self.queued().await.pop().unwrap().id;
        self.attempted(delivery, crate::Outcome::Delivered).await;
        let exemption = Exemption {
            id: ExemptionId::new(),
            exempt: Exempt::Prompt(TextHash(7)),
            until: Timestamp::from_millis(NOON.as_millis() + 1),
        };
        let row = ExemptionRow {
            exemption,
            agent: id(agent),
            text: "again".to_owned(),
            incident: Some(incident),
            created_at: NOON,
        };
        self.change(Change::AddExemption { row }).await.unwrap();
        let (policy, kill_switch) = (Box::default(), KillSwitch::default());
        self.change(Change::SetPolicy { agent: id(agent), policy, kill_switch, at: NOON }).await.unwrap();
    }
}

#[tokio::test]
async fn deleted_agent_leaves_no_row_in_any_table() {
    let fixture = Fixture::with(Tuning { deletion_rows: 3, ..quick() }).await;
    fixture.add_row_to_every_table("gone").await;
    fixture.record_all((0..20).map(|_| call("gone")).collect()).await;
    let before = fixture.rows_of("gone").await;
    assert!(before.len() >= 12, "{before:?}");
    for (table, rows) in &before {
        assert!(*rows > 0, "{table} can hold something of an agent: let this test put something into it");
    }

    // Sent but unwritten events are deleted with the rest.
    fixture.handle.event(call("gone"));
    fixture.change(Change::DeleteAgent { agent: id("gone") }).await.unwrap();
    for (table, rows) in fixture.rows_of("gone").await {
        assert_eq!(rows, 0, "{table} is not emptied");
    }
}

#[tokio::test]
async fn deletion_keeps_the_rows_of_other_agents() {
    let fixture = Fixture::with(Tuning { deletion_rows: 3, ..quick() }).await;
    fixture.add_row_to_every_table("kept").await;
    let kept = fixture.rows_of("kept").await;
    fixture.add_row_to_every_table("gone").await;
    fixture.change(Change::DeleteAgent { agent: id("gone") }).await.unwrap();
    assert_eq!(fixture.rows_of("kept").await, kept);
}

#[tokio::test]
async fn a_kill_does_not_wait_for_a_deletion() {
    let fixture = Fixture::with(Tuning { deletion_rows: 1, ..quick() }).await;
    fixture.record_all((0..2_000).map(|_| call("gone")).collect()).await;
    let deletion = fixture.change(Change::DeleteAgent { agent: id("gone") });
    let kill = async {
        let begun =
            async { while fixture.count("select count(*) from events where agent_id = 'gone'").await == 2_000 {} };
        in_time("the deletion begins", begun).await;
        assert!(fixture.send_kill(incident("looper", 0)).wait().await);
        fixture.count("select count(*) from events where agent_id = 'gone'").await
    };
    let (deleted, left) = tokio::join!(deletion, kill);
    deleted.unwrap();
    assert!(left > 0, "the kill was on disk before all was deleted");
    assert_eq!(fixture.count("select count(*) from events where agent_id = 'gone'").await, 0);
}

#[tokio::test]
async fn every_table_has_a_retention() {
    let fixture = Fixture::new().await;
    let mut known: Vec<&str> = KEPT.iter().map(|(table, _)| *table).collect();
    known.sort_unstable();
    let mut tables = fixture.tables().await;
    tables.sort_unstable();
    assert_eq!(tables, known);
}

#[tokio::test]
async fn earlier_kill_does_not_recreate_a_deleted_agent() {
    let fixture = Fixture::new().await;
    fixture.record(call("agent")).await;
    fixture.change(Change::DeleteAgent { agent: id("agent") }).await.unwrap();
    for epoch in [0, 3] {
        fixture.send_kill(incident("agent", epoch)).wait().await;
    }
    assert!(fixture.store.agent(&id("agent")).await.unwrap().is_none());

    let mut later = incident("agent", 0);
    later.kill.at = Timestamp::from_millis(NOON.as_millis() + 1);
    assert!(fixture.send_kill(later).wait().await);
    assert!(!fixture.is_active("agent").await, "of an agent that came back, it holds");
}
