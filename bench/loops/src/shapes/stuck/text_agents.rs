//! Stuck agents that write their actions as text, or their whole history into one prompt.

use super::super::{Shape, shapes};
use super::LAPS;
use crate::material::volatile::Volatile;
use crate::material::{outputs, reworded, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true;
        fenced_same_command, fenced_volatile_output, fenced_cycle, action_lines_same, function_lines_same, scratchpad_same_search,
        scratchpad_two_calls, scratchpad_cycle, scratchpad_reworded_search]
}

const FENCED: &str = "You interact with a computer. Answer with one bash block each time; its output comes back.";

fn fenced_same_command(run: &mut Run) {
    let mut chat = run.open_with(FENCED, &[], None);
    chat.push_user(&words::task(&mut run.rng));
    let error = outputs::failure(&mut run.rng);
    let command = run.rng.pick(&["python reproduce.py", "pytest -x -q", "make test"]);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let thought = reworded::again(&mut run.rng, "the reproduction");
        run.answer(&mut chat, &format!("THOUGHT: {thought}\n\n```bash\n{command}\n```"));
        chat.push_user(&format!("<returncode>1</returncode>\n<output>\n{error}\n</output>"));
    }
}

fn fenced_cycle(run: &mut Run) {
    let mut chat = run.open_with(FENCED, &[], None);
    chat.push_user(&words::task(&mut run.rng));
    let period = run.rng.count(2..=5);
    let steps: Vec<(String, String)> =
        (0..period).map(|_| (format!("cat {}", words::path(&mut run.rng)), outputs::failure(&mut run.rng))).collect();
    for lap in 0..50 / period {
        if lap == 1 {
            run.mark_stuck();
        }
        for (command, output) in &steps {
            let thought = reworded::again(&mut run.rng, "the file");
            run.answer(&mut chat, &format!("THOUGHT: {thought}\n\n```bash\n{command}\n```"));
            chat.push_user(&format!("<returncode>0</returncode>\n<output>\n{output}\n</output>"));
        }
    }
}

fn action_lines_same(run: &mut Run) {
    let mut chat = run.open_with("Answer with Thought, Action and Action Input.", &[], None);
    chat.push_user(&words::task(&mut run.rng));
    let input = words::identifier(&mut run.rng);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let thought = reworded::again(&mut run.rng, "the search");
        run.answer(&mut chat, &format!("Thought: {thought}\nAction: search\nAction Input: {input}"));
        chat.push_user("Observation: No good result was found.");
    }
}

/// Actions like `click('242')` on a line of their own, the observation as the next message.
fn function_lines_same(run: &mut Run) {
    let mut chat = run.open_with("Control the page with click('id'), fill('id', 'text') and noop().", &[], None);
    chat.push_user(&words::task(&mut run.rng));
    let id = run.rng.range(20..=400);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let thought = reworded::again(&mut run.rng, "the button");
        run.answer(&mut chat, &format!("{thought}\n\nclick('{id}')"));
        chat.push_user("Observation: the page did not change.");
    }
}

/// A scratchpad: every call sends question and history as one message. `step` gives thought, action
/// and observation.
fn write_history(run: &mut Run, steps: usize, stuck_from: usize, step: impl Fn(&mut Run, usize) -> [String; 3]) {
    let question = format!(
        "Which {} did {} find in {}?",
        run.rng.pick(words::NOUNS),
        run.rng.pick(words::PEOPLE),
        run.rng.pick(words::CITIES)
    );
    let mut prompt = format!(
        "Solve a question answering task with interleaving Thought, Action, Observation steps.\nQuestion: {question}\n"
    );
    for number in 1..=steps {
        if number == stuck_from {
            run.mark_stuck();
        }
        let [thought, action, seen] = step(run, number);
        let mut chat = run.open_with("", &[], None);
        chat.push_user(&format!("{prompt}Thought {number}:"));
        run.answer(&mut chat, &format!("{thought}\nAction {number}: {action}"));
        prompt += &format!("Thought {number}: {thought}\nAction {number}: {action}\nObservation {number}: {seen}\n");
    }
}

fn scratchpad_same_search(run: &mut Run) {
    let entity = run.rng.pick(words::PEOPLE);
    write_history(run, 30, 4, |run, number| match number {
        1 | 2 => [
            words::remark(&mut run.rng),
            format!("Search[{}]", words::identifier(&mut run.rng)),
            words::task(&mut run.rng),
        ],
        _ => {
            let thought = reworded::again(&mut run.rng, "the search");
            [thought, format!("Search[{entity}]"), format!("Could not find {entity}. Similar: []")]
        }
    });
}

fn scratchpad_reworded_search(run: &mut Run) {
    let topic = run.rng.pick(words::PEOPLE);
    write_history(run, 30, 3, |run, _| {
        let query = reworded::query(&mut run.rng, topic);
        [
            reworded::again(&mut run.rng, "a search"),
            format!("Search[{query}]"),
            "Could not find that page, please try again.".to_owned(),
        ]
    });
}

fn scratchpad_cycle(run: &mut Run) {
    let entities = run.rng.sample(words::CITIES, 3);
    let texts: Vec<String> = entities.iter().map(|_| words::task(&mut run.rng)).collect();
    write_history(run, 36, 4, |run, number| {
        let place = (number - 1) % entities.len();
        let thought = reworded::again(&mut run.rng, "the next search");
        [thought, format!("Search[{}]", entities[place]), texts[place].clone()]
    });
}

/// Two calls for each step: one for the thought, one for the action.
fn scratchpad_two_calls(run: &mut Run) {
    let entity = run.rng.pick(words::PEOPLE);
    let mut prompt = "Solve a question with Thought, Action and Observation steps.\nQuestion: Who was it?\n".to_owned();
    for number in 1..=20 {
        if number == 2 {
            run.mark_stuck();
        }
        let thought = format!("I need to search {entity}.");
        let parts = [
            (format!("Thought {number}:"), thought.clone()),
            (format!("Thought {number}: {thought}\nAction {number}:"), format!("Search[{entity}]")),
        ];
        for (end, answer) in parts {
            let mut chat = run.open_with("", &[], None);
            chat.push_user(&format!("{prompt}{end}"));
            run.answer(&mut chat, &answer);
        }
        prompt += &format!(
            "Thought {number}: {thought}\nAction {number}: Search[{entity}]\nObservation {number}: Could not find that page, please try again.\n"
        );
    }
}

/// The output of the same block differs in volatile parts only.
fn fenced_volatile_output(run: &mut Run) {
    let mut chat = run.open_with(FENCED, &[], None);
    chat.push_user(&words::task(&mut run.rng));
    let (error, kind) = (outputs::failure(&mut run.rng), Volatile::any(&mut run.rng));
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let thought = reworded::again(&mut run.rng, "the check");
        run.answer(&mut chat, &format!("THOUGHT: {thought}\n\n```bash\n./check.sh\n```"));
        let line = kind.line(&mut run.rng, run.now);
        chat.push_user(&format!("<returncode>1</returncode>\n<output>\n{line}\n{error}\n</output>"));
    }
}
