//! Agents whose only message is a log that is written anew at every step: what they thought, what
//! they did and what came of it, in one line or a few, in layouts of their own.

use serde_json::json;

use crate::conversation::Tool;
use crate::material::words;
use crate::run::Run;

/// How an entry is written, and how the answer names its parts.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// A row, and answers of two labelled lines.
    Row,
    /// Tags in one line.
    Tags,
    /// Parts under numbered names.
    Parts,
    /// One JSON object without line ends.
    Json,
    /// Only what was called, by a tool call that holds a thought.
    Calls,
}

const LAYOUTS: [Layout; 5] = [Layout::Row, Layout::Tags, Layout::Parts, Layout::Json, Layout::Calls];

/// What was thought, done and seen in one step.
struct Entry {
    thought: String,
    tool: String,
    object: String,
    outcome: String,
}

/// An agent and its log.
pub(super) struct Logbook {
    aim: String,
    layout: Layout,
    entries: Vec<Entry>,
}

impl Logbook {
    pub(super) fn new(run: &mut Run) -> Logbook {
        Logbook { aim: words::task(&mut run.rng), layout: run.rng.pick(&LAYOUTS), entries: Vec::new() }
    }

    /// Uses `tool` on `object` with this outcome.
    pub(super) fn step(&mut self, run: &mut Run, thought: &str, (tool, object): (&str, &str), outcome: &str) {
        let prompt = self.prompt(run);
        let mut chat = run.open_with("You keep at it until the aim is reached.", &["act"], None);
        chat.push_user(&prompt);
        let arguments = json!({"object": object});
        match self.layout {
            Layout::Row => run.answer(&mut chat, &format!("reason: {thought}\nnext: {tool} {object}")),
            Layout::Tags => {
                run.answer(&mut chat, &format!("<reasoning>{thought}</reasoning>\n<use>{tool} {object}</use>"));
            }
            Layout::Parts => {
                let answer = format!(
                    "[[ ## next_thought ## ]]\n{thought}\n\n[[ ## next_tool ## ]]\n{tool}\n\n[[ ## next_args ## ]]\n{arguments}"
                );
                run.answer(&mut chat, &answer);
            }
            Layout::Json => {
                run.answer(&mut chat, &json!({"thought": thought, "tool": tool, "args": arguments}).to_string());
            }
            Layout::Calls => {
                let input = json!({"reason": thought, "do": {tool: arguments}});
                run.act(&mut chat, "", Tool::new("act", input), "");
            }
        }
        let [thought, tool, object, outcome] = [thought, tool, object, outcome].map(str::to_owned);
        self.entries.push(Entry { thought, tool, object, outcome });
    }

    fn prompt(&self, run: &Run) -> String {
        let aim = &self.aim;
        let entries = self.entries.iter().enumerate();
        let entries: Vec<String> = entries.map(|(number, entry)| self.layout.entry(number, entry)).collect();
        let left = 200 - self.entries.len();
        match self.layout {
            Layout::Row => format!(
                "# Aim\n{aim}\n# Log\n| no | reason | done | outcome |\n|---|---|---|---|\n{}\n# Now\nGive reason and next.",
                entries.join("\n")
            ),
            Layout::Tags => {
                let clock = crate::clock::rfc3339(run.now);
                format!("<aim>{aim}</aim>\n<clock>{clock}</clock>\n<log>\n{}\n</log>\nWhat next?", entries.join("\n"))
            }
            Layout::Parts => {
                format!("[[ ## aim ## ]]\n{aim}\n\n[[ ## log ## ]]\n{}\n\nWrite the next parts.", entries.join("\n"))
            }
            Layout::Json => {
                format!(
                    "Aim and log:\n{{\"aim\": {}, \"log\": [{}], \"steps_left\": {left}}}",
                    json!(aim),
                    entries.join(", ")
                )
            }
            Layout::Calls => {
                format!("Aim: {aim}\nCalls so far:\n{}\nCall act once.\nNo other tool.", entries.join("\n"))
            }
        }
    }
}

impl Layout {
    fn entry(self, number: usize, entry: &Entry) -> String {
        let Entry { thought, tool, object, outcome } = entry;
        let arguments = json!({"object": object});
        match self {
            Layout::Row => format!("| {number} | {thought} | `{tool} {object}` | {outcome} |"),
            Layout::Tags => {
                format!(
                    "<turn n=\"{number}\"><why>{thought}</why><used>{tool} {object}</used><saw>{outcome}</saw></turn>"
                )
            }
            Layout::Parts => format!(
                "[[ ## thought_{number} ## ]]\n{thought}\n[[ ## tool_{number} ## ]]\n{tool}\n[[ ## args_{number} ## ]]\n{arguments}\n[[ ## saw_{number} ## ]]\n{outcome}"
            ),
            Layout::Json => json!({"thought": thought, "tool": tool, "args": arguments, "saw": outcome}).to_string(),
            Layout::Calls => format!("{number}. {tool}({object}) -> {outcome}"),
        }
    }
}
