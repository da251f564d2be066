//! A statement with its values, as PostgreSQL takes them.

use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, Postgres, SqlStr};

use super::dialect::{clean, translate};
use crate::sql::Value;

pub(crate) type Query = sqlx::query::Query<'static, Postgres, PgArguments>;

/// The statement in PostgreSQL's dialect.
pub(crate) fn query(sql: SqlStr, values: Vec<Value>) -> Result<Query, sqlx::Error> {
    let mut arguments = PgArguments::default();
    for value in values {
        let added = match value {
            Value::Integer(value) => arguments.add(value),
            Value::Real(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value.map(|text| clean(&text).into_owned())),
            Value::OwnedText(value) => arguments.add(value.map(|text| clean(&text).into_owned())),
            Value::Bytes(value) => arguments.add(value),
        };
        added.map_err(sqlx::Error::Encode)?;
    }
    Ok(sqlx::query_with(translate(sql), arguments))
}
