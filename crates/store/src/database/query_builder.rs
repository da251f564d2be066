//! Statements that are put together piece by piece.

use std::fmt::{Display, Write};

use super::query::{Scalar, Tuples};
use super::{Query, Value};
use crate::sql::ToValue;
use crate::sql::{FromColumn, FromRow};

/// A statement that is put together piece by piece. Only text of the program may be pushed; what
/// clients send is bound.
#[derive(Default)]
pub(crate) struct QueryBuilder {
    sql: String,
    values: Vec<Value>,
}

impl QueryBuilder {
    pub(crate) fn new(sql: impl Into<String>) -> QueryBuilder {
        QueryBuilder { sql: sql.into(), values: Vec::new() }
    }

    pub(crate) fn push(&mut self, sql: impl Display) -> &mut QueryBuilder {
        // Writing to a string cannot fail.
        let _ = write!(self.sql, "{sql}");
        self
    }

    pub(crate) fn push_bind(&mut self, value: impl ToValue) -> &mut QueryBuilder {
        self.sql.push('?');
        self.values.push(value.to_value());
        self
    }

    /// A list of values with `separator` between them.
    pub(crate) fn separated(&mut self, separator: &'static str) -> Separated<'_> {
        Separated { builder: self, separator, is_first: true }
    }

    pub(crate) fn build(&mut self) -> Query {
        Query::new(std::mem::take(&mut self.sql), std::mem::take(&mut self.values))
    }

    pub(crate) fn build_query_scalar<T: for<'r> FromColumn<'r>>(&mut self) -> Scalar<T> {
        Scalar::of(self.build())
    }

    pub(crate) fn build_query_as<T: FromRow>(&mut self) -> Tuples<T> {
        Tuples::of(self.build())
    }
}

/// A list of values.
pub(crate) struct Separated<'b> {
    builder: &'b mut QueryBuilder,
    separator: &'static str,
    is_first: bool,
}

impl Separated<'_> {
    pub(crate) fn push_bind(&mut self, value: impl ToValue) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.builder.push(self.separator);
        }
        self.builder.push_bind(value);
    }
}
