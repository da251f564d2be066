//! `users`: lists, adds, changes and deletes them.

use std::io::BufRead;

use http::Method;
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{find, role, shown_role};
use crate::cli::{RoleArg, ServerArgs, UsersArgs, UsersCommand};
use crate::client;
use crate::commands::client;
use crate::exit::{Exit, Failure};
use crate::print;
use crate::runtime::on_one_thread;
use crate::text::printable;

/// The fields of a user that are shown.
#[derive(Deserialize)]
struct User {
    id: String,
    name: String,
    role: String,
    groups: Option<Vec<String>>,
    last_login_at: Option<String>,
}

/// The source of a password.
enum Password {
    Kept,
    Given,
    Made,
}

/// `users`.
pub fn users(args: &UsersArgs) -> Result<(), Failure> {
    match &args.command {
        None => list(&args.server),
        Some(UsersCommand::List(server)) => list(server),
        Some(UsersCommand::Add { name, role, groups, password_stdin, server }) => {
            let password = if *password_stdin { Password::Given } else { Password::Made };
            add(name, (*role, groups), &password, server)
        }
        Some(UsersCommand::Change { user, role, groups, all_agents, password_stdin, new_password, server }) => {
            let password = match (password_stdin, new_password) {
                (true, _) => Password::Given,
                (_, true) => Password::Made,
                _ => Password::Kept,
            };
            let groups = match (groups.is_empty(), all_agents) {
                (_, true) => Some(Value::Null),
                (true, false) => None,
                (false, false) => Some(groups.as_slice().into()),
            };
            change(user, (*role, groups), &password, server)
        }
        Some(UsersCommand::Delete { user, server }) => delete(user, server),
    }
}

fn list(args: &ServerArgs) -> Result<(), Failure> {
    let items = on_one_thread(async { client(args)?.items("/api/users").await })?;
    if args.json {
        return print::json_list(&items);
    }
    let users = items.iter().map(|item| client::read(item.get())).collect::<Result<Vec<User>, Failure>>()?;
    let row = |user: User| {
        let last = user.last_login_at.as_deref().map_or_else(|| "never".to_owned(), print::time);
        vec![user.name, shown_role(&user.role, user.groups.as_deref()), last, user.id]
    };
    let rows = users.into_iter().map(row).collect();
    let nothing = "No users. `agentgazer users add NAME --role ROLE` adds one.";
    print::table(&["NAME", "ROLE", "LAST LOGIN (UTC)", "ID"], rows, nothing)
}

fn add(
    name: &str,
    (given_role, groups): (RoleArg, &[String]),
    password: &Password,
    args: &ServerArgs,
) -> Result<(), Failure> {
    let (password, made) = read(password)?;
    let mut body = serde_json::json!({"name": name, "role": role(given_role), "password": password});
    if !groups.is_empty() {
        body["groups"] = groups.into();
    }
    let answer = on_one_thread(async { client(args)?.change(Method::POST, "/api/users", &body).await })?;
    let groups = Some(groups).filter(|groups| !groups.is_empty());
    report(&answer, &format!("{name} may log in as {}.", shown_role(role(given_role), groups)), made, args)
}

fn change(
    user: &str,
    (given_role, groups): (Option<RoleArg>, Option<Value>),
    password: &Password,
    args: &ServerArgs,
) -> Result<(), Failure> {
    let (password, made) = read(password)?;
    let mut body = Map::new();
    body.extend(given_role.map(|given| ("role".to_owned(), Value::from(role(given)))));
    body.extend(groups.map(|groups| ("groups".to_owned(), groups)));
    body.extend(password.map(|password| ("password".to_owned(), password.into())));
    if body.is_empty() {
        return Err(Failure::new(
            Exit::Usage,
            "nothing to change: say --role, --group, --all-agents, --password-stdin or --new-password",
        ));
    }
    let answer = on_one_thread(async {
        let client = client(args)?;
        let id = find(&client, "user", user).await?;
        client.change(Method::PATCH, &format!("/api/users/{id}"), &body.into()).await
    })?;
    report(&answer, &format!("{user} is changed; earlier sessions have ended."), made, args)
}

fn delete(user: &str, args: &ServerArgs) -> Result<(), Failure> {
    on_one_thread(async {
        let client = client(args)?;
        let id = find(&client, "user", user).await?;
        client.delete(&format!("/api/users/{id}")).await
    })?;
    if args.json { Ok(()) } else { print::line(&printable(&format!("{user} is deleted and logged out."))) }
}

/// The password, and the generated one if there is one. A password is never an argument, because
/// other users of the machine can see arguments.
fn read(password: &Password) -> Result<(Option<String>, Option<String>), Failure> {
    match password {
        Password::Kept => Ok((None, None)),
        Password::Made => {
            let made: String = control::Token::random()?.expose_secret().chars().take(24).collect();
            Ok((Some(made.clone()), Some(made)))
        }
        Password::Given => {
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line)?;
            Ok((Some(line.trim_end_matches(['\r', '\n']).to_owned()), None))
        }
    }
}

fn report(answer: &str, text: &str, made: Option<String>, args: &ServerArgs) -> Result<(), Failure> {
    if args.json {
        let mut user: Value = client::read(answer)?;
        if let Some(password) = made {
            user["password"] = password.into();
        }
        return print::json(&user.to_string());
    }
    print::line(&printable(text))?;
    match made {
        Some(password) => print::line(&format!("The password, which is not shown again: {password}")),
        None => Ok(()),
    }
}
