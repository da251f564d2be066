//! Agents whose only message is rebuilt at every step, in layouts that no known client has: the
//! task, a screen with numbered elements, a counter and a clock, and the last answers.

use serde_json::json;

use crate::clock::rfc3339;
use crate::material::words;
use crate::run::Run;

/// How a prompt is put together, and how the answer writes its action.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// One JSON object.
    Json,
    /// A table of what was done, and a list of elements.
    Table,
    /// Elements and past turns as tags.
    Tags,
}

/// What the agent does on a screen.
pub(super) struct Action<'a> {
    pub(super) name: &'a str,
    pub(super) target: &'a str,
    pub(super) text: &'a str,
}

/// An agent at its work.
pub(super) struct Operator {
    goal: String,
    layout: Layout,
    /// The thought and the action of each step.
    past: Vec<(String, String)>,
}

const ADVERTISEMENTS: [&str; 4] = ["Ad: sofas", "Sponsored: learn piano", "Ad: winter tyres", "Promoted: a tea club"];

/// How many steps a prompt shows.
const SHOWN: usize = 6;

impl Operator {
    pub(super) fn new(run: &mut Run) -> Operator {
        let goal = words::task(&mut run.rng);
        Operator { goal, layout: run.rng.pick(&[Layout::Json, Layout::Table, Layout::Tags]), past: Vec::new() }
    }

    /// Sees `screen` and acts on it.
    pub(super) fn step(&mut self, run: &mut Run, screen: &[String], thought: &str, action: &Action<'_>) {
        let mut lines = screen.to_vec();
        lines.insert(run.rng.below(lines.len() + 1), run.rng.pick(&ADVERTISEMENTS).to_owned());
        lines.push(format!("{} people are looking at this", run.rng.range(900..=1_800)));
        lines.extend(["Contact", "Help", "Imprint"].map(str::to_owned));
        let mut number = run.rng.range(10..=60);
        let elements: Vec<(i64, String)> = lines
            .into_iter()
            .map(|line| {
                number += run.rng.range(1..=4);
                (number, line)
            })
            .collect();
        let Action { name, target, text } = action;
        let called = match self.layout {
            Layout::Json => json!({"name": name, "target": target, "text": text}).to_string(),
            _ if text.is_empty() => format!("{name}(\"{target}\")"),
            _ => format!("{name}(\"{target}\", \"{text}\")"),
        };
        let prompt = self.prompt(run, &elements);
        let mut chat = run.open_with("", &[], None);
        chat.push_user(&prompt);
        let answer = match self.layout {
            Layout::Json => format!("{{\"thought\":{},\"action\":{called}}}", json!(thought)),
            Layout::Table => format!("{thought}\n```\n{called}\n```"),
            Layout::Tags => format!("{thought}\n<command>{called}</command>"),
        };
        run.answer(&mut chat, &answer);
        self.past.push((thought.to_owned(), called));
    }

    fn prompt(&self, run: &Run, elements: &[(i64, String)]) -> String {
        let (goal, first) = (&self.goal, self.past.len().saturating_sub(SHOWN));
        let past = self.past.iter().enumerate().skip(first);
        match self.layout {
            Layout::Json => {
                let elements: Vec<_> =
                    elements.iter().map(|(number, line)| json!({"index": number, "text": line})).collect();
                let past: Vec<_> = past
                    .map(|(step, (thought, called))| json!({"step": step, "thought": thought, "did": called}))
                    .collect();
                let state = json!({"job": goal, "now": rfc3339(run.now), "screen": elements, "so_far": past});
                format!("Answer with one JSON object.\n{state:#}")
            }
            Layout::Table => {
                let past: String =
                    past.map(|(step, (thought, called))| format!("| {step} | {thought} | `{called}` |\n")).collect();
                let elements: String = elements.iter().map(|(number, line)| format!("* ({number}) {line}\n")).collect();
                format!(
                    "# Mission\n{goal}\n\n# Done\n| no | thought | command |\n|---|---|---|\n{past}\n# On display\n{elements}"
                )
            }
            Layout::Tags => {
                let elements: String =
                    elements.iter().map(|(number, line)| format!("<item ref=\"{number}\">{line}</item>\n")).collect();
                let past: String = past
                    .map(|(step, (thought, called))| {
                        format!("<turn n=\"{step}\">{thought} <command>{called}</command></turn>\n")
                    })
                    .collect();
                format!(
                    "<mission>{goal}</mission>\n<view at=\"{}\">\n{elements}</view>\n<past>\n{past}</past>",
                    rfc3339(run.now)
                )
            }
        }
    }
}

/// The lines of a screen.
pub(super) fn screen(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}
