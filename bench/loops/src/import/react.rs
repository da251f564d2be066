//! Logs of ReAct agents as Reflexion writes them: `BEGIN CORRECT AGENTS` and the like head a list
//! of scratchpads, each from `Question:` to `Correct answer:`. Every step was two calls, one for
//! the thought and one for the action, each with the whole history in one prompt.

use serde_json::{Value, json};

use super::{Body, Imported};

const FRAME: &str = "Solve a question answering task with interleaving Thought, Action, Observation steps. Thought can reason \
    about the current situation, and Action can be three types: Search[entity], Lookup[keyword], Finish[answer].\n\
    (END OF EXAMPLES)\n";

pub(super) fn read(log: &str, name: &str) -> Vec<Imported> {
    let mut runs = Vec::new();
    let mut is_solved = None;
    let mut question: Option<Vec<&str>> = None;
    for line in log.lines() {
        if line.contains("BEGIN CORRECT AGENTS") {
            is_solved = Some(true);
        } else if line.contains("BEGIN INCORRECT AGENTS") || line.contains("BEGIN HALTED AGENTS") {
            is_solved = Some(false);
        } else if line.starts_with("Question:") {
            question = Some(vec![line]);
        } else if line.starts_with("Correct answer:") {
            if let Some(lines) = question.take() {
                let id = format!("react/{name}/{}", runs.len());
                runs.push(Imported { id, is_solved, body: Body::Calls(calls(&lines)) });
            }
        } else if let Some(lines) = &mut question {
            lines.push(line);
        }
    }
    runs
}

/// A call for every thought and every action.
fn calls(lines: &[&str]) -> Vec<Value> {
    let mut prompt = FRAME.to_owned();
    let mut calls = Vec::new();
    for line in lines {
        if let Some((head, said)) = line.split_once(": ").filter(|(head, _)| is_said(head)) {
            let content = format!("{prompt}{head}:");
            let request = json!({"messages": [{"role": "user", "content": content}]});
            calls.push(
                json!({"request": request, "response": {"role": "assistant", "content": said}, "format": "openai"}),
            );
        }
        prompt += line;
        prompt.push('\n');
    }
    calls
}

/// `Thought 3` or `Action 3`: what the model wrote.
fn is_said(head: &str) -> bool {
    let number = head.strip_prefix("Thought ").or_else(|| head.strip_prefix("Action "));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "BEGIN TRIAL 1\n------------- BEGIN CORRECT AGENTS -------------\n\nQuestion: Who?\nThought 1: I search.\n\
        Action 1: Search[Rome]\nObservation 1: Could not find [Rome].\nThought 2: Again.\nAction 2: Finish[nobody]\n\
        Observation 2: Answer is CORRECT\n\nCorrect answer: nobody\n\n------------- BEGIN INCORRECT AGENTS -----------\n\n\
        Question: What?\nThought 1: Hm.\n\nCorrect answer: that\n";

    #[test]
    fn every_thought_and_action_is_a_call() {
        let runs = read(LOG, "base");
        assert_eq!(runs.len(), 2);
        assert_eq!([runs[0].is_solved, runs[1].is_solved], [Some(true), Some(false)]);
        let Body::Calls(calls) = &runs[0].body else { panic!("calls") };
        assert_eq!(calls.len(), 4);
        assert_eq!(calls[1]["response"]["content"], "Search[Rome]");
        let prompt = calls[3]["request"]["messages"][0]["content"].as_str().unwrap();
        assert!(prompt.contains("Observation 1: Could not find [Rome].\nThought 2: Again.\nAction 2:"), "{prompt}");
        assert!(prompt.ends_with("Action 2:"));
    }
}
