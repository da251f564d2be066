//! Groups of agents, and what their agents have spent together.

use model::{BudgetPeriod, Group, Groups, Spending, Timestamp};

use crate::columns::odd;
use crate::database::{self, Pool, Row};
use crate::{Store, StoreError};

impl Store {
    /// The groups, also those that are added later.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// What the agents of a group have spent together, as its policy counts it.
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
        Ok(total)
    }
}

/// The groups as they are stored. One that cannot be read is an error: to drop it would lift its
/// limits.
pub(crate) async fn read(readers: &Pool) -> Result<Groups, StoreError> {
    let query = database::query("select * from agent_groups order by name").try_map(group_row);
    Ok(Groups::new(query.fetch_all(readers).await?))
}

fn group_row(row: Row) -> Result<Group, sqlx::Error> {
    fn json<T: serde::de::DeserializeOwned>(row: &Row, column: &'static str) -> Result<T, sqlx::Error> {
        serde_json::from_str(row.try_get(column)?).map_err(|_| odd(column))
    }
    Ok(Group {
        name: row.try_get("name")?,
        agents: json(&row, "agents")?,
        policy: json(&row, "policy")?,
        kill_switch: json(&row, "kill_switch")?,
    })
}
