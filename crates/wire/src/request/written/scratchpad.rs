//! ReAct scratchpads: one prompt with the task and every thought, action and observation so far.
//! The next request adds one step.

use super::History;
use super::labels::{Label, Section, sections};
use super::model_text::action_with_input;

/// Reads the run at the end of a prompt. `None` if the prompt is no scratchpad.
pub(super) fn read(text: &str) -> Option<History<'_>> {
    let mut run = Run { text, ..Run::default() };
    sections(text).for_each(|section| run.add(&section));
    run.finish()
}

/// The newest run so far. Instructions and examples before it hold runs too.
#[derive(Default)]
struct Run<'t> {
    text: &'t str,
    task: Option<&'t str>,
    /// The text after the end of the examples.
    introduction: Option<&'t str>,
    first_step: Option<usize>,
    /// The action without an observation yet.
    action: Option<Action<'t>>,
    newest: Option<Observed<'t>>,
    /// The number of observations, or the number in the newest one's label.
    steps: u32,
    is_numbered: bool,
    /// Whether a text of the model follows the newest observation.
    model_continued: bool,
    last: Option<Section<'t>>,
}

/// An action, and its input if that has its own label.
#[derive(Clone, Copy)]
struct Action<'t> {
    text: &'t str,
    input: Option<&'t str>,
}

/// An observation's position, and its action if that could be read.
#[derive(Clone, Copy)]
struct Observed<'t> {
    action: Option<Action<'t>>,
    start: usize,
    end: usize,
}

impl<'t> Run<'t> {
    fn add(&mut self, section: &Section<'t>) {
        if self.is_inside_observation(section) {
            if let Some(newest) = &mut self.newest {
                newest.end = section.end;
            }
            return;
        }
        match section.label {
            Label::Task => *self = Run { text: self.text, task: Some(section.body), ..Run::default() },
            Label::Begin => {
                let introduction = Some(section.body).filter(|body| body.len() > 1);
                *self = Run { text: self.text, task: self.task, introduction, ..Run::default() };
            }
            Label::Thought | Label::Action | Label::ActionInput | Label::FinalAnswer => self.add_model_text(section),
            Label::Observation => {
                self.newest =
                    Some(Observed { action: self.action.take(), start: section.body_start, end: section.end });
                self.steps = self.steps.saturating_add(1).max(section.number.unwrap_or(0));
                self.model_continued = false;
            }
        }
        let is_step = !matches!(section.label, Label::Task | Label::Begin);
        if is_step && self.first_step.is_none() {
            (self.first_step, self.is_numbered) = (Some(section.start), section.number.is_some());
        }
        self.last = Some(*section);
    }

    /// Adds a text of the model. A label without text is where the model is asked to continue.
    fn add_model_text(&mut self, section: &Section<'t>) {
        if section.body.is_empty() {
            return;
        }
        self.model_continued = true;
        match section.label {
            Label::Action => self.action = Some(Action { text: section.body, input: None }),
            Label::ActionInput => {
                self.action = self.action.map(|action| Action { input: Some(section.body), ..action });
            }
            _ => {}
        }
    }

    /// Whether a label is part of an observation: pages and files contain such lines. A new task
    /// follows an empty line or an answer.
    fn is_inside_observation(&self, section: &Section<'_>) -> bool {
        if self.last.is_none_or(|last| last.label != Label::Observation) {
            return false;
        }
        match section.label {
            Label::Task => !section.is_apart && !self.has_finished(),
            Label::Begin => false,
            _ => self.is_numbered && section.number.is_none(),
        }
    }

    /// Whether the newest action gave the answer.
    fn has_finished(&self) -> bool {
        let action = self.newest.and_then(|newest| newest.action).map_or("", |action| action.text);
        let begins_with = |name: &&str| action.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name));
        ["finish", "stop", "submit", "answer"].iter().any(begins_with)
    }

    fn finish(self) -> Option<History<'t>> {
        let is_begun = self.newest.is_some_and(|newest| newest.action.is_some());
        let waits =
            self.last.is_some_and(|last| last.body.is_empty() && matches!(last.label, Label::Thought | Label::Action));
        if !is_begun && !waits {
            return None;
        }
        let newest = self.newest.filter(|_| !self.model_continued);
        let step = newest.map(|Observed { action, start, end }| {
            // The agent reports an unreadable action; a repeated report counts as a repeated
            // action.
            let call = action.map(|action| action_with_input(action.text, action.input));
            let result = self.text.get(start..end).unwrap_or_default().trim();
            (call.unwrap_or_else(|| super::action::call("", "")), vec![result])
        });
        Some(History { task: self.task_text(), step, actions: self.steps })
    }

    /// The task, which stays the same from step to step.
    fn task_text(&self) -> String {
        let before_steps = || self.text.get(..self.first_step.unwrap_or(0)).unwrap_or_default().trim();
        match (self.task, self.introduction) {
            (None, None) => before_steps().to_owned(),
            (Some(text), None) | (None, Some(text)) => text.to_owned(),
            (Some(task), Some(introduction)) => [task, "\n", introduction].concat(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;

    /// Task, actions, and the step as name, arguments and result.
    fn check(text: &str, task: &str, actions: u32, step: Option<(&str, &str, &str)>) {
        let history = read(text).unwrap();
        let found = history.step.as_ref().map(|(call, results)| (&*call.name, &*call.arguments, results[0]));
        assert_eq!((&*history.task, history.actions, found), (task, actions, step), "{text}");
    }

    const EXAMPLES: &str = "Answer with Thought, Action and Observation steps. Here are examples.\n\
        Question: Which river is longer?\nThought 1: I search both.\nAction 1: Search[Nile]\n\
        Observation 1: 6,650 km\nThought 2: Done.\nAction 2: Finish[Nile]\n(END OF EXAMPLES)\n";

    #[test]
    fn the_newest_step_of_the_last_question_is_read() {
        let question = format!("{EXAMPLES}Question: Who built the bridge?\nIt spans the Drina.\n");
        let task = "Who built the bridge?\nIt spans the Drina.";
        check(&format!("{question}Thought 1:"), task, 0, None);
        let first =
            format!("{question}Thought 1: I search it.\nAction 1: Search[Drina bridge]\nObservation 1: None found.\n");
        check(&format!("{first}Thought 2:"), task, 1, Some(("Search", "Drina bridge", "None found.")));
        check(&first, task, 1, Some(("Search", "Drina bridge", "None found.")));
        let second = format!("{first}Thought 2: Again.\nAction 2: Lookup[builder]\nObservation 2: By Sinan.\n\n1571\n");
        check(&format!("{second}Thought 3:"), task, 2, Some(("Lookup", "builder", "By Sinan.\n\n1571")));
    }

    #[test]
    fn a_step_is_reported_once_where_thought_and_action_are_two_calls() {
        let prompt =
            "Question: who?\nThought 1: a\nAction 1: Search[x]\nObservation 1: y\nThought 2: I see.\nAction 2:";
        check(prompt, "who?", 1, None);
        check("Question: who?\nThought 1: I begin.\nAction 1:", "who?", 0, None);
    }

    #[test]
    fn langchain_s_prompt_is_read() {
        let begin = "Use the following format:\n\nQuestion: the input question you must answer\nThought: think\n\
            Action: the action to take\nAction Input: the input\nObservation: the result of the action\n\
            ... (this can repeat N times)\nThought: I now know the final answer\nFinal Answer: the answer\n\nBegin!\n\n\
            Question: How old is it?\nThought:";
        check(begin, "How old is it?", 0, None);
        let step = " I look it up.\nAction: search\nAction Input: {\"q\": \"age\"}\nObservation: 12 years\nThought:";
        check(&format!("{begin}{step}"), "How old is it?", 1, Some(("search", "{\"q\": \"age\"}", "12 years")));
        let unread = " It is 12.\nObservation: Invalid Format: Missing 'Action:' after 'Thought:'\nThought:";
        let result = "Invalid Format: Missing 'Action:' after 'Thought:'";
        check(&format!("{begin}{step}{unread}"), "How old is it?", 2, Some(("", "", result)));
    }

    #[test]
    fn labels_inside_an_observation_are_its_text() {
        let run = |page: &str| format!("Question: who?\nAction 1: Open[faq]\nObservation 1: FAQ\n{page}\nThought 2:");
        let page = "Question: How do I pay?\nAction: press the button";
        check(&run(page), "who?", 1, Some(("Open", "faq", &format!("FAQ\n{page}"))));
    }

    #[test]
    fn without_a_label_the_task_is_all_before_the_first_step() {
        let text = "Buy a lamp under 20 dollars.\n[Search]\n\nAction: search[lamp]\nObservation: Page 1\nAction:";
        check(text, "Buy a lamp under 20 dollars.\n[Search]", 1, Some(("search", "lamp", "Page 1")));
        let crew = "Current Task: Write a poem.\n\nBegin! Your job depends on it!\n\nThought:";
        check(crew, "Write a poem.\nYour job depends on it!", 0, None);
    }

    #[test]
    fn other_prompts_have_no_history() {
        for text in
            ["", "Question: who?", "Question: who?\nAnswer:", "Observation: it rains.\nWhat follows?", "Action: none"]
        {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
