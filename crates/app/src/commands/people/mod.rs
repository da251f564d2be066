//! `users`, `tokens` and `audit`: access, and the record of changes.

mod audit;
mod tokens;
mod users;

pub use audit::audit;
pub use tokens::tokens;
pub use users::users;

use crate::cli::RoleArg;
use crate::client::{self, Client};
use crate::exit::{Exit, Failure};

fn role(role: RoleArg) -> &'static str {
    match role {
        RoleArg::Viewer => "viewer",
        RoleArg::Operator => "operator",
        RoleArg::Admin => "admin",
    }
}

/// A role as it is shown, with the groups that it is limited to.
fn shown_role(role: &str, groups: Option<&[String]>) -> String {
    groups.map_or_else(|| role.to_owned(), |groups| format!("{role}@{}", groups.join(",")))
}

/// An item with a name.
#[derive(serde::Deserialize)]
struct Named {
    id: String,
    name: String,
}

/// The id of the `kind`, a user or a token, with the name or id `wanted`.
async fn find(client: &Client, kind: &str, wanted: &str) -> Result<String, Failure> {
    let items = client.items(&format!("/api/{kind}s")).await?;
    let items = items.iter().map(|item| client::read(item.get())).collect::<Result<Vec<Named>, Failure>>()?;
    let mut found = items.into_iter().filter(|item| item.id == wanted || item.name.eq_ignore_ascii_case(wanted));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only.id),
        (Some(_), Some(_)) => {
            Err(Failure::new(Exit::Usage, format!("several {kind}s are called {wanted:?}: give the id")))
        }
        (None, _) => Err(Failure::new(Exit::NotFound, format!("there is no {kind} {wanted:?}"))),
    }
}
