use super::*;
use crate::ExemptionRow;
use model::{Exempt, Exemption, ExemptionId};

const HOUR: i64 = 60 * 60 * 1000;

fn in_hours(hours: i64) -> Timestamp {
    Timestamp::from_millis(NOON.as_millis() + hours * HOUR)
}

fn row(agent: &str, exempt: Exempt, hours: i64) -> ExemptionRow {
    let exemption = Exemption { id: ExemptionId::new(), exempt, until: in_hours(hours) };
    ExemptionRow { exemption, agent: id(agent), text: "again".to_owned(), incident: None, created_at: NOON }
}

fn prompt(hash: u64) -> Exempt {
    Exempt::Prompt(TextHash(hash))
}

impl Fixture {
    async fn exempt(&self, row: &ExemptionRow) -> Result<Changed, StoreError> {
        self.change(Change::AddExemption { row: row.clone() }).await
    }

    async fn exemptions(&self, hours: i64) -> Vec<ExemptionRow> {
        self.store.exemptions(&id("agent"), in_hours(hours)).await.unwrap()
    }
}

#[tokio::test]
async fn exemptions_are_listed_until_they_end_or_are_revoked() {
    let fixture = Fixture::new().await;
    fixture.record_all(vec![call("agent"), call("another")]).await;
    let of_prompt = row("agent", prompt(u64::MAX), 2);
    let of_tool = row("agent", Exempt::ToolCall { literal: u64::MAX, adaptive: 1 }, 4);
    for row in [&of_prompt, &of_tool, &row("another", prompt(1), 2)] {
        fixture.exempt(row).await.unwrap();
    }
    assert_eq!(fixture.exemptions(0).await, [of_prompt.clone(), of_tool.clone()]);
    assert_eq!(fixture.exemptions(2).await, std::slice::from_ref(&of_tool), "it is over at that very time");

    let remove = |agent, row: &ExemptionRow| Change::RemoveExemption { agent: id(agent), id: row.exemption.id };
    assert!(matches!(fixture.change(remove("another", &of_tool)).await, Err(StoreError::NotFound)), "not its own");
    fixture.change(remove("agent", &of_tool)).await.unwrap();
    assert_eq!(fixture.exemptions(0).await, [of_prompt]);
    assert!(matches!(fixture.exempt(&row("nobody", prompt(1), 2)).await, Err(StoreError::NotFound)));
}

#[tokio::test]
async fn exemption_is_stored_once_and_their_number_is_limited() {
    let fixture = Fixture::new().await;
    fixture.record(call("agent")).await;
    for number in 0..Exemption::MOST as u64 {
        fixture.exempt(&row("agent", prompt(number), 2)).await.unwrap();
    }
    let longer = row("agent", prompt(3), 9);
    fixture.exempt(&longer).await.unwrap();
    assert_eq!(fixture.exemptions(3).await, [longer]);
    assert!(matches!(fixture.exempt(&row("agent", prompt(99), 2)).await, Err(StoreError::Conflict(_))));
    assert_eq!(fixture.exemptions(0).await.len(), Exemption::MOST);
}

#[tokio::test]
async fn exemptions_are_restored_with_their_agent_and_swept_after_their_end() {
    let fixture = Fixture::new().await;
    fixture.record(call("agent")).await;
    let (over, holds) = (row("agent", prompt(1), -1), row("agent", prompt(2), 1));
    for row in [&over, &holds] {
        fixture.exempt(row).await.unwrap();
    }
    let fixture = fixture.restart().await;
    let saved = fixture.store.saved_agents(KillSwitch::default(), 0).await.unwrap();
    assert_eq!(saved[0].exemptions, [holds.exemption], "also of an agent that has nothing else to be restored");
    // The writer sweeps when it starts and is idle.
    let mut rounds = 0;
    while fixture.count("select count(*) from exemptions").await > 1 {
        rounds += 1;
        assert!(rounds < 10_000, "never swept");
        fixture.recorder.catch_up().await;
    }
    assert_eq!(fixture.exemptions(0).await, [holds]);
}
