//! Kills that replicas agreed on, and that none of them has stored.

use model::{AgreedKill, CheckedKills, IncidentId, UnrecordedKill};
use sqlx::PgPool;

use crate::columns::signed;
use crate::database::Pool;
use crate::postgres::in_time;
use crate::{Store, StoreError};

/// An incident that people deleted does not count as missing.
const CHECK: &str = "
    select kills.incident, stored.id, last.provider, last.model, last.conversation,
        stored.id is null and (agents.id is null or (agents.epoch = kills.epoch
            and (agents.active = 1 or agents.incident_id = kills.incident)))
    from unnest($1::text[], $2::bigint[], $3::text[]) as kills (agent, epoch, incident)
    left join agents on agents.id = kills.agent
    left join lateral (
        select id from incidents
        where id = kills.incident or (agent_id = kills.agent and epoch = kills.epoch and state <> 'observed')
        order by id = kills.incident desc limit 1
    ) as stored on true
    left join lateral (
        select provider, model, conversation from events
        where agent_id = kills.agent and provider is not null and stored.id is null order by id desc limit 1
    ) as last on true";

/// The columns of [`CHECK`].
type Row = (String, Option<String>, Option<String>, Option<String>, Option<String>, bool);

impl Store {
    /// Returns which of `kills` are not stored, although nothing else has ended the epoch of the
    /// agent, and what ended it for the others.
    pub async fn check_kills(&self, kills: &[AgreedKill]) -> Result<CheckedKills, StoreError> {
        match &self.readers {
            Pool::Postgres(pool) if !kills.is_empty() => Ok(read(pool, kills).await?),
            _ => Ok(CheckedKills::default()),
        }
    }
}

async fn read(pool: &PgPool, kills: &[AgreedKill]) -> Result<CheckedKills, sqlx::Error> {
    let query = sqlx::query_as(CHECK);
    let query = query.bind(kills.iter().map(|kill| kill.agent.as_str().to_owned()).collect::<Vec<_>>());
    let query = query.bind(kills.iter().map(|kill| signed(kill.epoch.0)).collect::<Vec<_>>());
    let query = query.bind(kills.iter().map(|kill| kill.incident.to_string()).collect::<Vec<_>>());
    let rows: Vec<Row> = in_time(query.fetch_all(pool)).await?;
    let mut checked = CheckedKills::default();
    for (incident, stored, provider, model, conversation, is_missing) in rows {
        let Some(incident) = IncidentId::parse(&incident) else { continue };
        let agreed = kills.iter().find(|kill| kill.incident == incident).cloned();
        match agreed.filter(|_| is_missing) {
            Some(kill) => checked.unrecorded.push(UnrecordedKill { kill, provider, model, conversation }),
            None => {
                let stored = stored.as_deref().and_then(IncidentId::parse);
                checked.recorded.insert(incident, stored.unwrap_or(incident));
            }
        }
    }
    Ok(checked)
}
