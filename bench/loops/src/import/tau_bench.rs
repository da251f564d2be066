//! tau-bench: a list of runs with `task_id`, `trial`, `reward` and `traj`, the messages of Chat
//! Completions.

use anyhow::Context;
use serde_json::Value;

use super::{Body, Imported, list};

pub(super) fn read(file: &Value, name: &str) -> anyhow::Result<Vec<Imported>> {
    let runs = file.as_array().context("must be a list of runs")?;
    let run = |run: &Value| {
        Ok(Imported {
            id: format!("tau-bench/{name}-t{}-task{}", run["trial"].as_u64().unwrap_or(0), run["task_id"]),
            is_solved: run["reward"].as_f64().map(|reward| reward >= 1.0),
            body: Body::Messages(list(run, "traj")?.clone()),
        })
    };
    runs.iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn runs_are_told_apart_by_trial_and_task() {
        let file = json!([{"task_id": 4, "trial": 1, "reward": 1.0, "traj": [{"role": "user", "content": "Hi"}]},
                          {"task_id": 5, "reward": 0.0, "traj": []}]);
        let runs = read(&file, "gpt-4o-airline").unwrap();
        assert_eq!(runs[0].id, "tau-bench/gpt-4o-airline-t1-task4");
        assert_eq!([runs[0].is_solved, runs[1].is_solved], [Some(true), Some(false)]);
        assert!(read(&json!([{"task_id": 1}]), "x").unwrap_err().to_string().contains("`traj`"));
    }
}
