//! InterCode: runs by number, each with a `query` and a `turn_history` of actions, observations and
//! rewards. The prompts are not kept; they are written here as the environment words them.

use anyhow::Context;
use serde_json::{Value, json};

use super::{Body, Imported, list, text};

pub(super) fn read(file: &Value, name: &str) -> anyhow::Result<Vec<Imported>> {
    let runs = file.as_object().context("must be an object of runs")?;
    runs.iter().map(|(number, run)| one(run, &format!("intercode/{name}/{number}"))).collect()
}

fn one(run: &Value, id: &str) -> anyhow::Result<Imported> {
    let history = &run["turn_history"];
    let (actions, observations) = (list(history, "actions")?, list(history, "observations")?);
    let language = text(run, "environment").trim_start_matches("ic_").to_owned();
    let system = format!("You are an expert in {language}. You see the output of what you write and may try again.");
    let mut messages = vec![
        json!({"role": "system", "content": system}),
        json!({"role": "user", "content": format!("Question: {}", text(run, "query"))}),
    ];
    for (place, (action, seen)) in actions.iter().zip(observations).enumerate() {
        messages.push(json!({"role": "assistant", "content": shown(action)}));
        let reward = &history["rewards"][place];
        messages.push(json!({"role": "user", "content": format!("Output: {}\nReward: {reward}", shown(seen))}));
    }
    // The last output was not sent to the model any more.
    messages.pop();
    let reward = run["summary"]["max_reward"].as_f64();
    Ok(Imported { id: id.to_owned(), is_solved: reward.map(|reward| reward >= 1.0), body: Body::Messages(messages) })
}

/// Observations are texts in some files and lists in others.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_and_observations_take_turns() {
        let file = json!({"7": {"environment": "ic_sql", "query": "How many?", "summary": {"max_reward": 1.0},
            "turn_history": {"actions": ["SHOW TABLES", "SELECT 1"], "observations": ["[]", "[(1,)]"], "rewards": [0.0, 1.0]}}});
        let runs = read(&file, "sql").unwrap();
        assert_eq!((runs[0].id.as_str(), runs[0].is_solved), ("intercode/sql/7", Some(true)));
        let Body::Messages(messages) = &runs[0].body else { panic!("a transcript") };
        assert_eq!(messages.len(), 5);
        assert_eq!(messages[3]["content"], "Output: []\nReward: 0.0");
        assert_eq!(messages[4]["content"], "SELECT 1");
    }
}
