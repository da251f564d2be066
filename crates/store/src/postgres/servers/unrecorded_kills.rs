//! Kills that replicas agreed on, and that none of them has stored.

use model::{AgreedKill, IncidentId, UnrecordedKill};
use sqlx::PgPool;

use crate::columns::signed;
use crate::database::Pool;
use crate::postgres::in_time;
use crate::{Store, StoreError};

impl Store {
    /// Returns the kills among `kills` that are not stored, although nothing else has ended the
    /// epoch of the agent. An incident that people deleted does not count as missing.
    pub async fn unrecorded_kills(&self, kills: &[AgreedKill]) -> Result<Vec<UnrecordedKill>, StoreError> {
        match &self.readers {
            Pool::Postgres(pool) if !kills.is_empty() => Ok(read(pool, kills).await?),
            _ => Ok(Vec::new()),
        }
    }
}

async fn read(pool: &PgPool, kills: &[AgreedKill]) -> Result<Vec<UnrecordedKill>, sqlx::Error> {
    let query = sqlx::query_as(
        "select kills.incident, last.provider, last.model, last.conversation
         from unnest($1::text[], $2::bigint[], $3::text[]) as kills (agent, epoch, incident)
         left join agents on agents.id = kills.agent
         left join lateral (
            select provider, model, conversation from events
            where agent_id = kills.agent and provider is not null order by id desc limit 1
         ) as last on true
         where (agents.id is null
                or (agents.epoch = kills.epoch and (agents.active = 1 or agents.incident_id = kills.incident)))
            and not exists (select from incidents
                where id = kills.incident or (agent_id = kills.agent and epoch = kills.epoch and state <> 'observed'))",
    );
    let query = query.bind(kills.iter().map(|kill| kill.agent.as_str().to_owned()).collect::<Vec<_>>());
    let query = query.bind(kills.iter().map(|kill| signed(kill.epoch.0)).collect::<Vec<_>>());
    let query = query.bind(kills.iter().map(|kill| kill.incident.to_string()).collect::<Vec<_>>());
    type Row = (String, Option<String>, Option<String>, Option<String>);
    let rows: Vec<Row> = in_time(query.fetch_all(pool)).await?;
    let find = |(incident, provider, model, conversation): Row| {
        let incident = IncidentId::parse(&incident)?;
        let kill = kills.iter().find(|kill| kill.incident == incident)?.clone();
        Some(UnrecordedKill { kill, provider, model, conversation })
    };
    Ok(rows.into_iter().filter_map(find).collect())
}
