//! Alert rules, and the built-in rule for agents without one.

use model::{AgentId, AlertRule, ChannelId, Condition, Groups, RuleId, RuleScope, RuleType, Timestamp};
use uuid::Uuid;

use crate::columns::{self, invalid};
use crate::database::{self, Connection, Row};
use crate::{Store, StoreError};

/// The id of the built-in rule, for agents without a rule about kills.
pub(super) const DEFAULT_RULE: RuleId = RuleId(Uuid::nil());

impl Store {
    /// All rules, oldest first.
    pub async fn alert_rules(&self) -> Result<Vec<AlertRule>, StoreError> {
        let query = database::query("select * from alert_rules order by id").try_map(rule_row);
        let rules = query.fetch_all(&self.readers).await?;
        Ok(rules.into_iter().map(|rule| resolved(rule, &self.groups)).collect())
    }

    /// One rule.
    pub async fn alert_rule(&self, id: RuleId) -> Result<Option<AlertRule>, StoreError> {
        let query = database::query("select * from alert_rules where id = $1").bind(id.to_string());
        Ok(query.try_map(rule_row).fetch_optional(&self.readers).await?)
    }

    /// Whether a kill of `agent` would notify any channel.
    pub async fn notifies_of_kills(&self, agent: &AgentId) -> Result<bool, StoreError> {
        let mut acquired = self.readers.acquire().await?;
        let mut reader = acquired.connection();
        let rules = about_kills(&mut reader, agent, &self.groups).await?;
        let open: Vec<String> =
            database::query_scalar("select id from channels where enabled = 1").fetch_all(&mut reader).await?;
        let told = |rule: &AlertRule| {
            open.iter()
                .any(|id| rule.channels.is_empty() || rule.channels.iter().any(|channel| channel.to_string() == *id))
        };
        Ok(rules.iter().any(told))
    }
}

/// The rules about kills of `agent`. Without any, on or off, the built-in one notifies all
/// channels.
pub(super) async fn about_kills(
    connection: &mut Connection<'_>,
    agent: &AgentId,
    groups: &Groups,
) -> Result<Vec<AlertRule>, sqlx::Error> {
    let query = database::query("select * from alert_rules where rule_type = $1").bind(RuleType::KillSwitch.as_str());
    let rules = query.try_map(rule_row).fetch_all(connection).await?;
    let mut rules: Vec<_> = rules.into_iter().map(|rule| resolved(rule, groups)).collect();
    rules.retain(|rule| rule.scope.includes(agent));
    if rules.is_empty() {
        rules.push(default_rule());
    }
    rules.retain(|rule| rule.enabled);
    Ok(rules)
}

/// `rule` with the agents that its group has now.
fn resolved(rule: AlertRule, groups: &Groups) -> AlertRule {
    AlertRule { scope: rule.scope.resolved(groups), ..rule }
}

fn default_rule() -> AlertRule {
    AlertRule {
        id: DEFAULT_RULE,
        scope: RuleScope::All,
        condition: Condition::KillSwitch,
        channels: Vec::new(),
        cooldown_minutes: AlertRule::COOLDOWN_MINUTES,
        repeat_minutes: None,
        notify_recovery: false,
        enabled: true,
        created_at: Timestamp::default(),
    }
}

/// One rule, inside a transaction.
pub(super) async fn get(connection: &mut Connection<'_>, id: RuleId) -> Result<Option<AlertRule>, sqlx::Error> {
    if id == DEFAULT_RULE {
        return Ok(Some(default_rule()));
    }
    let query = database::query("select * from alert_rules where id = $1").bind(id.to_string());
    query.try_map(rule_row).fetch_optional(connection).await
}

/// Adds or replaces a rule.
pub(super) async fn put(transaction: &mut Connection<'_>, rule: &AlertRule) -> Result<(), sqlx::Error> {
    database::query(
        "insert into alert_rules (id, agent_id, rule_type, condition, channels, cooldown_minutes, repeat_minutes,
            notify_recovery, enabled, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         on conflict (id) do update set agent_id = excluded.agent_id, rule_type = excluded.rule_type,
            condition = excluded.condition, channels = excluded.channels, cooldown_minutes = excluded.cooldown_minutes,
            repeat_minutes = excluded.repeat_minutes, notify_recovery = excluded.notify_recovery,
            enabled = excluded.enabled",
    )
    .bind(rule.id.to_string())
    .bind(rule.scope.to_string())
    .bind(rule.condition.rule_type().as_str())
    .bind(json(&rule.condition))
    .bind(json(&rule.channels))
    .bind(rule.cooldown_minutes)
    .bind(rule.repeat_minutes)
    .bind(rule.notify_recovery)
    .bind(rule.enabled)
    .bind(rule.created_at.as_millis())
    .execute(transaction)
    .await
    .map(drop)
}

/// Deletes a rule and its states; `false` if there is none.
pub(super) async fn remove(transaction: &mut Connection<'_>, id: RuleId) -> Result<bool, sqlx::Error> {
    let query = database::query("delete from alert_states where rule_id = $1").bind(id.to_string());
    query.execute(&mut *transaction).await?;
    let query = database::query("delete from alert_rules where id = $1").bind(id.to_string());
    Ok(query.execute(transaction).await?.rows_affected() == 1)
}

/// Removes a channel from all rules. A rule without another channel is deleted: without channels it
/// would notify all of them, and switched off it would silence kills. A rule that is off stays.
pub(super) async fn drop_channel(transaction: &mut Connection<'_>, channel: ChannelId) -> Result<(), sqlx::Error> {
    let query = database::query("select * from alert_rules").try_map(rule_row);
    for mut rule in query.fetch_all(&mut *transaction).await? {
        if !rule.channels.contains(&channel) {
            continue;
        }
        rule.channels.retain(|other| *other != channel);
        if rule.channels.is_empty() && rule.enabled {
            remove(transaction, rule.id).await?;
        } else {
            put(transaction, &rule).await?;
        }
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn rule_row(row: Row) -> Result<AlertRule, sqlx::Error> {
    Ok(AlertRule {
        id: RuleId::parse(row.try_get("id")?).ok_or_else(|| invalid("id"))?,
        scope: RuleScope::parse(row.try_get("agent_id")?).map_err(|_| invalid("agent_id"))?,
        condition: serde_json::from_str(row.try_get("condition")?).map_err(|_| invalid("condition"))?,
        channels: serde_json::from_str(row.try_get("channels")?).map_err(|_| invalid("channels"))?,
        cooldown_minutes: row.try_get("cooldown_minutes")?,
        repeat_minutes: row.try_get("repeat_minutes")?,
        notify_recovery: row.try_get("notify_recovery")?,
        enabled: row.try_get("enabled")?,
        created_at: columns::timestamp(&row, "created_at")?,
    })
}
