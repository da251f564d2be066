//! Groups of agents, and what their agents have spent together.

use model::{AgentId, AgentLabels, BudgetPeriod, Group, Groups, Label, Spending, Timestamp};

use crate::columns::{self, invalid};
use crate::database::{self, Pool, Row};
use crate::stats::group_spending;
use crate::{Store, StoreError};

impl Store {
    /// The groups, including those that are added later.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// What the agents of a group have spent together, also those that were deleted, as its policy
    /// counts it.
    pub async fn group_spending(&self, group: &Group, now: Timestamp) -> Result<Spending, StoreError> {
        let mut total = Spending::default();
        if !group.policy.has_budget() {
            return Ok(total);
        }
        let spending = self.spending(&group.policy, now).await?;
        for (_, spent) in spending.iter().filter(|(agent, _)| group.includes(agent)) {
            for period in BudgetPeriod::ALL {
                *total.of_mut(period) += spent.of(period);
            }
        }
        for period in BudgetPeriod::ALL {
            let from = group.policy.time_zone.period(period, now).start;
            *total.of_mut(period) += group_spending::since(&self.readers, &group.name, from).await?;
        }
        Ok(total)
    }
}

/// The groups and the labels of agents as they are stored. A group that cannot be read is an error:
/// to drop it would lift its limits.
pub(crate) async fn read(readers: &Pool) -> Result<Groups, StoreError> {
    let groups = Groups::new(read_groups(readers).await?);
    let query = database::query("select id, labels from agents where labels is not null").try_map(labels_row);
    groups.labels().set_all(query.fetch_all(readers).await?);
    Ok(groups)
}

/// The groups as they are stored.
pub(crate) async fn read_groups(readers: &Pool) -> Result<Vec<Group>, StoreError> {
    let query = database::query("select * from agent_groups order by name").try_map(group_row);
    Ok(query.fetch_all(readers).await?)
}

fn group_row(row: Row) -> Result<Group, sqlx::Error> {
    fn json<T: serde::de::DeserializeOwned>(row: &Row, column: &'static str) -> Result<T, sqlx::Error> {
        serde_json::from_str(row.try_get(column)?).map_err(|_| invalid(column))
    }
    Ok(Group {
        name: row.try_get("name")?,
        agents: json(&row, "agents")?,
        labels: labels(&row)?,
        policy: json(&row, "policy")?,
        kill_switch: json(&row, "kill_switch")?,
        stopped_at: columns::maybe_timestamp(&row, "stopped_at")?,
        agent_labels: AgentLabels::default(),
    })
}

fn labels_row(row: Row) -> Result<(AgentId, Vec<Label>), sqlx::Error> {
    Ok((columns::agent_id(&row, "id")?, labels(&row)?))
}

/// The labels of an agent or a group.
pub(crate) fn labels(row: &Row) -> Result<Vec<Label>, sqlx::Error> {
    let text: Option<String> = row.try_get("labels")?;
    text.map_or_else(|| Ok(Vec::new()), |text| serde_json::from_str(&text).map_err(|_| invalid("labels")))
}
