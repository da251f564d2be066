//! Leases: each delivery and each evaluation is taken by one replica for a time, by the clock of
//! the database.

use sqlx::PgPool;

use crate::postgres::in_time;

/// Leases the deliveries in `ids` to `holder`, and returns those that no one else holds.
pub(crate) async fn lease_deliveries(
    pool: &PgPool,
    ids: Vec<String>,
    holder: &str,
    millis: i64,
) -> Result<Vec<String>, sqlx::Error> {
    let query = sqlx::query_scalar(
        "update deliveries set leased_by = $2, leased_until = now_ms() + $3
         where id in (
            select id from deliveries
            where id = any($1) and state = 'queued' and coalesce(leased_until, 0) <= now_ms()
            order by id for update skip locked)
         returning id",
    );
    in_time(query.bind(ids).bind(holder).bind(millis).fetch_all(pool)).await
}

/// Leases `name` to `holder`, unless another holder's lease is still running.
pub(crate) async fn claim(pool: &PgPool, name: &str, holder: &str, millis: i64) -> Result<bool, sqlx::Error> {
    let query = sqlx::query(
        "insert into claims (name, holder, until) values ($1, $2, now_ms() + $3)
         on conflict (name) do update set holder = excluded.holder, until = excluded.until
         where claims.holder = excluded.holder or claims.until <= now_ms()",
    );
    let claimed = in_time(query.bind(name).bind(holder).bind(millis).execute(pool)).await?;
    Ok(claimed.rows_affected() == 1)
}
