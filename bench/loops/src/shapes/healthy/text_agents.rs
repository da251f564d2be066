//! Agents that write their actions as text.

use super::super::{Shape, shapes};
use crate::material::outputs::{self, Runner};
use crate::material::{code, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false; fenced_edit_test, fenced_exploration, action_lines, scratchpad, scratchpad_two_calls_working]
}

const FENCED: &str = "You interact with a computer. Answer with one bash block each time; its output comes back.";

/// A shell block after a thought, its output as the next user message.
fn fenced(run: &mut Run, chat: &mut crate::conversation::Conversation, command: &str, output: &str) {
    let thought = words::remark(&mut run.rng);
    run.answer(chat, &format!("THOUGHT: {thought}\n\n```bash\n{command}\n```"));
    chat.push_user(&format!("<returncode>0</returncode>\n<output>\n{output}\n</output>"));
}

fn fenced_edit_test(run: &mut Run) {
    let mut chat = run.open_with(FENCED, &[], None);
    chat.push_user(&words::task(&mut run.rng));
    let runner = run.rng.pick(&Runner::ALL);
    let command = runner.command(&mut run.rng);
    let mut failed: usize = 30;
    while run.len() < 66 {
        let (path, line) = (words::path(&mut run.rng), code::line(&mut run.rng));
        fenced(run, &mut chat, &format!("cat >> {path} <<'EOF'\n{line}\nEOF"), "");
        failed = failed.saturating_sub(run.rng.count(0..=1));
        let summary = runner.summary(&mut run.rng, failed, 50);
        fenced(run, &mut chat, &command, &summary);
    }
}

fn fenced_exploration(run: &mut Run) {
    let mut chat = run.open_with(FENCED, &[], None);
    chat.push_user(&words::task(&mut run.rng));
    for path in words::paths(&mut run.rng, 64) {
        let text = if run.rng.chance(15) { String::new() } else { code::lines(&mut run.rng, 5) };
        fenced(run, &mut chat, &format!("grep -n {} {path}", words::identifier(&mut run.rng.clone())), &text);
    }
}

/// `Action:` and `Action Input:` lines with an observation behind them.
fn action_lines(run: &mut Run) {
    let mut chat =
        run.open_with("Answer with Thought, Action and Action Input. Tools: search, open, calculator.", &[], None);
    chat.push_user(&format!(
        "Which {} is sold most in {}?",
        run.rng.pick(words::PRODUCTS),
        run.rng.pick(words::CITIES)
    ));
    while run.len() < 64 {
        let (tool, input) = (run.rng.pick(&["search", "open", "calculator"]), words::identifier(&mut run.rng));
        let thought = words::remark(&mut run.rng);
        run.answer(&mut chat, &format!("Thought: {thought}\nAction: {tool}\nAction Input: {input} {}", run.len()));
        let seen = outputs::failure(&mut run.rng);
        chat.push_user(&format!("Observation: {seen}"));
    }
}

/// The whole history in one prompt: questions one after the other, each with searches of its own.
fn scratchpad(run: &mut Run) {
    while run.len() < 64 {
        let (person, city) = (run.rng.pick(words::PEOPLE), run.rng.pick(words::CITIES));
        let question = format!("Which {} did {person} find in {city}?", run.rng.pick(words::NOUNS));
        let mut prompt =
            format!("Solve a question with Thought, Action and Observation steps.\nQuestion: {question}\n");
        for step in 1..=run.rng.count(5..=8) {
            let mut chat = run.open_with("", &[], None);
            chat.push_user(&format!("{prompt}Thought {step}:"));
            let entity = format!("{} {}", run.rng.pick(words::ADJECTIVES), run.rng.pick(words::NOUNS));
            let said = format!("I need to find the {entity}.\nAction {step}: Search[{entity}]");
            run.answer(&mut chat, &said);
            let seen = words::task(&mut run.rng);
            prompt += &format!("Thought {step}: {said}\nObservation {step}: {seen}\n");
        }
    }
}

/// A call for the thought and a call for the action of each step.
fn scratchpad_two_calls_working(run: &mut Run) {
    while run.len() < 64 {
        let mut prompt = format!("Question: Where did {} go?\n", run.rng.pick(words::PEOPLE));
        for step in 1..=run.rng.count(4..=7) {
            let entity = format!("{} {}", run.rng.pick(words::CITIES), run.rng.pick(words::NOUNS));
            for (head, said) in
                [("Thought", format!("I should look up {entity}.")), ("Action", format!("Search[{entity}]"))]
            {
                let mut chat = run.open_with("", &[], None);
                chat.push_user(&format!("{prompt}{head} {step}:"));
                run.answer(&mut chat, &said);
                prompt += &format!("{head} {step}: {said}\n");
            }
            prompt += &format!("Observation {step}: {}\n", words::task(&mut run.rng));
        }
    }
}
