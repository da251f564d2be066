//! Labelled lines of agents that reason and act in text: `Thought: …`, `Action 2: …`, `Action
//! Input: …`, `Observation: …`, and the task at the beginning.

use memchr::memchr;

/// The kind of a labelled section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// The task: `Question:`, `Task:`, `Claim:`.
    Task,
    /// The end of instructions and examples: `Begin!`, `(END OF EXAMPLES)`.
    Begin,
    Thought,
    Action,
    ActionInput,
    Observation,
    FinalAnswer,
}

/// The names, in lower case. A name that begins with another one comes before it.
const NAMES: [(&str, Label); 21] = [
    ("action input", Label::ActionInput),
    ("action_input", Label::ActionInput),
    ("actioninput", Label::ActionInput),
    ("action", Label::Action),
    ("observation", Label::Observation),
    ("obs", Label::Observation),
    ("thought", Label::Thought),
    ("think", Label::Thought),
    ("reasoning", Label::Thought),
    ("final answer", Label::FinalAnswer),
    ("question", Label::Task),
    ("claim", Label::Task),
    ("task", Label::Task),
    ("current task", Label::Task),
    ("user task", Label::Task),
    ("instruction", Label::Task),
    ("goal", Label::Task),
    ("objective", Label::Task),
    ("problem", Label::Task),
    ("user query", Label::Task),
    ("user request", Label::Task),
];

/// The beginnings of lines that end instructions and examples.
const BEGINNINGS: [&str; 5] = ["Begin!", "(END OF EXAMPLES", "END OF EXAMPLES", "Here is the task", "Now begin"];

/// Longer than any label before its colon. Lines with a later colon are skipped.
const MAX_LABEL: usize = 32;

/// A label with the text up to the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section<'t> {
    pub(super) label: Label,
    /// `3` in `Observation 3:`.
    pub(super) number: Option<u32>,
    /// Without white space around it.
    pub(super) body: &'t str,
    /// The start of the label's line, and the start and end of its text.
    pub(super) start: usize,
    pub(super) body_start: usize,
    pub(super) end: usize,
    /// Whether an empty line precedes it.
    pub(super) is_apart: bool,
}

/// The labelled sections of a text, from the first label on.
pub(super) fn sections(text: &str) -> impl Iterator<Item = Section<'_>> {
    let mut next = Lines { text, at: 0, is_apart: true }.next_label();
    std::iter::from_fn(move || {
        let (head, lines) = next.take()?;
        next = lines.next_label();
        let end = next.as_ref().map_or(text.len(), |(following, _)| following.start);
        let Head { label, number, start, body_start, is_apart } = head;
        let body = text.get(body_start..end).unwrap_or_default().trim();
        Some(Section { label, number, body, start, body_start, end, is_apart })
    })
}

/// A labelled line.
#[derive(Clone, Copy, Debug)]
struct Head {
    label: Label,
    number: Option<u32>,
    start: usize,
    body_start: usize,
    is_apart: bool,
}

/// The lines of a text from a position on.
#[derive(Clone, Copy)]
struct Lines<'t> {
    text: &'t str,
    at: usize,
    is_apart: bool,
}

impl<'t> Lines<'t> {
    /// Skips to the next labelled line.
    fn next_label(mut self) -> Option<(Head, Lines<'t>)> {
        while self.at < self.text.len() {
            let (start, is_apart) = (self.at, self.is_apart);
            let rest = &self.text[start..];
            let line = &rest[..memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())];
            self.at = (start + line.len() + 1).min(self.text.len());
            self.is_apart = line.trim_ascii().is_empty();
            if let Some((label, number, length)) = label_of(line) {
                return Some((Head { label, number, start, body_start: start + length, is_apart }, self));
            }
        }
        None
    }
}

/// The label at the start of a line, its number, and the length of both in bytes.
fn label_of(line: &str) -> Option<(Label, Option<u32>, usize)> {
    // Markdown: `**Action:** click`, `### Action:`.
    let text = line.trim_start_matches([' ', '*', '#']);
    let indent = line.len() - text.len();
    if indent > 6 {
        return None;
    }
    if let Some(beginning) = BEGINNINGS.iter().find(|beginning| text.starts_with(**beginning)) {
        return Some((Label::Begin, None, indent + beginning.len()));
    }
    if !text.starts_with(|first: char| first.is_ascii_uppercase()) {
        return None;
    }
    let colon = text.bytes().take(MAX_LABEL).position(|byte| byte == b':')?;
    let words = text[..colon].trim_end_matches(['*', ' ']);
    let name = words.trim_end_matches(|last: char| last.is_ascii_digit());
    let number = words[name.len()..].parse().ok();
    let name = name.trim_end_matches([' ', '#']);
    let (_, label) = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    let end = colon + 1;
    let bold = text[end..].len() - text[end..].trim_start_matches('*').len();
    Some((*label, number, indent + end + bold))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(Label, Option<u32>, &str)]) {
        let found: Vec<_> = sections(text).map(|section| (section.label, section.number, section.body)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn labels_begin_sections() {
        check(
            "Look.\nQuestion: who?\nThought 1: I look\nfurther.\nAction 1: Search[x]\nObservation 1: none\n\nThought 2:",
            &[
                (Label::Task, None, "who?"),
                (Label::Thought, Some(1), "I look\nfurther."),
                (Label::Action, Some(1), "Search[x]"),
                (Label::Observation, Some(1), "none"),
                (Label::Thought, Some(2), ""),
            ],
        );
        check(
            "**Thought:** so\n### Action:\nsearch\nACTION INPUT: {\"q\": 1}\r\nFinal Answer: 7",
            &[
                (Label::Thought, None, "so"),
                (Label::Action, None, "search"),
                (Label::ActionInput, None, "{\"q\": 1}"),
                (Label::FinalAnswer, None, "7"),
            ],
        );
        check("(END OF EXAMPLES)\nTask: go", &[(Label::Begin, None, ")"), (Label::Task, None, "go")]);
    }

    #[test]
    fn words_inside_a_line_are_no_labels() {
        check("The Action: none\nactions: 5\naction: lower\nActionable: x\nAction without a colon\n", &[]);
        check("", &[]);
        check("\n\n\n", &[]);
    }

    #[test]
    fn an_empty_line_sets_a_section_apart() {
        let apart: Vec<bool> = sections("Task: a\nTask: b\n\nTask: c").map(|section| section.is_apart).collect();
        assert_eq!(apart, [true, false, true]);
    }
}
