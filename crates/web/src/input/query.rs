//! Query parameters, read as strictly as bodies: an unknown one is an error, so that a typo does
//! not list everything.

use std::error::Error;

use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use store::{Cursor, PageRequest};

use super::error_text::takes;
use crate::problem::Problem;

/// The number of items on a page by default, and at most.
const DEFAULT_LIMIT: u32 = 50;
const MAX_LIMIT: u32 = 500;

/// The query parameters.
pub(crate) struct Parameters<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Parameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        Query::<T>::try_from_uri(&parts.uri).map(|Query(query)| Parameters(query)).map_err(|error| problem(&error))
    }
}

/// The filters of a page, from a form. Empty fields, and the parameters that an action redirects
/// with, are ignored.
pub(crate) struct Filters<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Filters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let is_ours = |pair: &str| pair.starts_with("done=") || pair.starts_with("undo=");
        let given = |pair: &&str| !pair.is_empty() && !pair.ends_with('=') && !is_ours(pair);
        let query = parts.uri.query().unwrap_or_default().split('&').filter(given).collect::<Vec<_>>().join("&");
        let uri: Uri = format!("/?{query}").parse().map_err(|_| Problem::bad_request("The query cannot be read."))?;
        Query::<T>::try_from_uri(&uri).map(|Query(query)| Filters(query)).map_err(|error| problem(&error))
    }
}

/// The deserialiser's own error, somewhere behind axum's.
type Inner = serde_path_to_error::Error<serde::de::value::Error>;

fn problem(error: &(dyn Error + 'static)) -> Problem {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(inner) = error.downcast_ref::<Inner>() {
            let path = inner.path().to_string();
            let (field, message) = takes(&path, &inner.inner().to_string());
            return Problem::field(field.unwrap_or_else(|| "query".to_owned()), message);
        }
        cause = error.source();
    }
    Problem::bad_request("The query string cannot be read.")
}

/// The page of a list that is asked for.
pub(crate) trait Paging {
    /// The `limit` parameter.
    fn limit(&self) -> Option<u32>;
    /// The `cursor` parameter.
    fn cursor(&self) -> Option<&str>;

    /// The page, or the invalid parameter.
    fn page(&self) -> Result<PageRequest, Problem> {
        let limit = self.limit().unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Problem::field("limit", format!("must be a whole number from 1 to {MAX_LIMIT}")));
        }
        Ok(PageRequest { limit, cursor: self.cursor().map(|cursor| Cursor(cursor.to_owned())) })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct Sample {
        limit: Option<u32>,
        blocked: Option<bool>,
        from: Option<model::Timestamp>,
        state: Option<model::IncidentState>,
        agent: Option<model::AgentId>,
    }

    #[test]
    fn invalid_parameter_is_named_with_what_it_takes() {
        for (query, expected) in [
            ("limit=many", "limit must be a whole number"),
            ("limit=-1", "limit must be a whole number"),
            ("limit=99999999999999", "limit must be a whole number"),
            ("blocked=maybe", "blocked must be true or false"),
            ("from=yesterday", "from must be a time such as 2024-01-15T10:30:00Z"),
            ("state=broken", "state must be one of `open`, `closed`, `observed`"),
            ("agent=a%20b", "agent an agent name has"),
            ("limit=1&limit=2", "limit must be given once"),
            ("limits=1", "limits is not known here; known: `limit`, `blocked`, `from`, `state`, `agent`"),
        ] {
            let uri = format!("/x?{query}").parse().unwrap();
            let problem = problem(&Query::<Sample>::try_from_uri(&uri).expect_err(query));
            assert!(problem.detail().starts_with(expected), "{query}: {}", problem.detail());
        }
    }
}
