//! Settings of an agent that does not exist yet: the API creates the agent, so a mistyped name
//! would create one that never calls. The command line asks first.

use std::io::{IsTerminal, Write};

use model::AgentId;
use serde::Deserialize;

use crate::client::{self, Client};
use crate::exit::{Exit, Failure};

/// An agent that exists.
#[derive(Deserialize)]
struct Known {
    agent_id: String,
}

/// An error unless `agent` exists or may be created: with `--create`, or when a person at the
/// terminal agrees.
pub(super) async fn ensure_meant(client: &Client, agent: &AgentId, create: bool) -> Result<(), Failure> {
    if create {
        return Ok(());
    }
    match client.get(&format!("/api/agents/{agent}")).await {
        Err(failure) if failure.exit == Exit::NotFound => {}
        other => return other.map(drop),
    }
    let similar = similar_name(client, agent).await?;
    let unknown = unknown(agent, similar.as_deref());
    if std::io::stdin().is_terminal() && agrees(&unknown)? {
        return Ok(());
    }
    Err(Failure::new(Exit::NotFound, format!("{unknown}; --create sets one up before its first call")))
}

fn unknown(agent: &AgentId, similar: Option<&str>) -> String {
    match similar {
        Some(similar) => format!("no agent is called {agent:?} (is it {similar:?}?)", agent = agent.as_str()),
        None => format!("no agent is called {:?}", agent.as_str()),
    }
}

/// Asks on the terminal; everything but yes means no.
fn agrees(unknown: &str) -> Result<bool, Failure> {
    let mut terminal = anstream::stderr();
    write!(terminal, "{unknown}. Create it before its first call? [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The known agent with the most similar name, if one is close.
async fn similar_name(client: &Client, agent: &AgentId) -> Result<Option<String>, Failure> {
    let mut names = Vec::new();
    for item in client.list("/api/agents", "").await? {
        names.push(client::read::<Known>(item.get())?.agent_id);
    }
    let close = |name: &String| (edits(name, agent.as_str()), name.clone());
    Ok(names.iter().map(close).min().filter(|(edits, _)| *edits <= 2).map(|(_, name)| name))
}

/// The edit distance: how many letters must be added, removed or replaced.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut costs: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut costs[0], row + 1);
        for column in 0..other.len() {
            let replaced = diagonal + usize::from(letter != other[column]);
            diagonal = costs[column + 1];
            costs[column + 1] = replaced.min(diagonal + 1).min(costs[column] + 1);
        }
    }
    costs[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_differ_in_few_letters() {
        let check = |one: &str, other: &str, expected: usize| assert_eq!(edits(one, other), expected, "{one} {other}");
        check("import-fixer", "import-fixer", 0);
        check("import-fixer", "imort-fixer", 1);
        check("import-fixer", "import-fixes!", 2);
        check("", "abc", 3);
        check("abc", "", 3);
    }
}
