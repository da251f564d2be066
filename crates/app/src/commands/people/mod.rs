//! `users`, `tokens` and `audit`: who may come in, and who did what.

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

/// Something with a name.
#[derive(serde::Deserialize)]
struct Named {
    id: String,
    name: String,
}

/// The id of the one of a list that is called `wanted` or has it as its id.
async fn find(client: &Client, path: &str, wanted: &str) -> Result<String, Failure> {
    let items = client.items(path).await?;
    let items = items.iter().map(|item| client::read(item.get())).collect::<Result<Vec<Named>, Failure>>()?;
    let mut found = items.into_iter().filter(|item| item.id == wanted || item.name.eq_ignore_ascii_case(wanted));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only.id),
        (Some(_), Some(_)) => Err(Failure::new(Exit::Usage, format!("several are called {wanted:?}: give the id"))),
        (None, _) => Err(Failure::new(Exit::NotFound, format!("there is no {wanted:?}"))),
    }
}
