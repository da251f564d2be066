//! Prompts of browser and desktop agents, rebuilt at every step: the task, the current page, and
//! all actions or only the last one.

use std::borrow::Cow;

use memchr::{memchr, memmem};

use super::History;
use super::action::announced;
use super::headings::{Heading, Part, heading_of};

/// More sections than any page has: tabs, tree, focused element.
const MAX_PIECES: usize = 8;

/// Reads a prompt with a task, a page and a history under headings. `None` if one of them is
/// missing.
pub(super) fn read(text: &str, has_picture: bool) -> Option<History<'_>> {
    let mut prompt = Parts { has_picture, ..Parts::default() };
    sections(text, |part, body| prompt.add(part, body));
    let Parts { task, history, pages, .. } = prompt.complete()?;
    let (action, actions) = newest_action(history?);
    let step = action.map(|action| (announced(&by_description(action)), pages));
    Some(History { task: task?.to_owned(), step, actions })
}

/// The parts of one prompt. Those of an example precede those of the task.
#[derive(Clone, Default)]
struct Parts<'t> {
    task: Option<&'t str>,
    history: Option<&'t str>,
    pages: Vec<&'t str>,
    /// Whether the page is a screenshot.
    has_picture: bool,
    before: Option<Box<Parts<'t>>>,
}

impl<'t> Parts<'t> {
    fn add(&mut self, part: Part, body: &'t str) {
        if matches!(part, Part::Task | Part::Page) && self.is_complete() && !self.pages.is_empty() {
            let before = Parts { before: None, ..std::mem::take(self) };
            *self = Parts { has_picture: before.has_picture, before: Some(Box::new(before)), ..Parts::default() };
        }
        match part {
            Part::Task => self.task = Some(body),
            Part::History => self.history = Some(body),
            Part::Page if self.pages.len() < MAX_PIECES => self.pages.push(body),
            Part::Page | Part::Other => {}
        }
    }

    fn is_complete(&self) -> bool {
        self.task.is_some() && self.history.is_some() && (self.has_picture || !self.pages.is_empty())
    }

    /// The newest complete parts.
    fn complete(self) -> Option<Parts<'t>> {
        if self.is_complete() { Some(self) } else { self.before.map(|before| *before) }
    }
}

/// Visits the sections under known headings.
fn sections<'t>(text: &'t str, mut visit: impl FnMut(Part, &'t str)) {
    let mut open: Option<(Heading<'t>, usize)> = None;
    let mut at = 0;
    while at < text.len() {
        let (start, rest) = (at, &text[at..]);
        let line = &rest[..memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())];
        at = (start + line.len() + 1).min(text.len());
        let Some((heading, length)) = heading_of(line) else { continue };
        if let Some((before, body)) = open {
            if !before.is_closed_by(&heading) {
                continue;
            }
            visit(before.part, text[body..start].trim());
        }
        let body = start + length;
        open = Some((heading, body)).filter(|_| heading.part != Part::Other);
        if let Some(closing) = heading.closing_tag() {
            let end =
                memmem::find(&text.as_bytes()[body..], closing.as_bytes()).map_or(text.len(), |found| body + found);
            visit(heading.part, text[body..end].trim());
            (open, at) = (None, end);
        }
    }
    if let Some((heading, body)) = open {
        visit(heading.part, text[body..].trim());
    }
}

/// The newest action of a history, and the number of actions.
fn newest_action(history: &str) -> (Option<&str>, u32) {
    if let Some(start) = memmem::rfind(history.as_bytes(), b"<action>") {
        let action = &history[start + "<action>".len()..];
        let action = action.split("</action>").next().unwrap_or_default();
        return (Some(action.trim()), count(memmem::find_iter(history.as_bytes(), "<action>")));
    }
    if let Some(start) = memmem::rfind(history.as_bytes(), b"<step") {
        let step = history[start..].split("</step").next().unwrap_or_default();
        let outcome = ["Action Results:", "Action Result:", "Result:", "Action:"].iter().find_map(|label| {
            memmem::find(step.as_bytes(), label.as_bytes()).map(|place| &step[place + label.len()..])
        });
        let step = outcome.unwrap_or_else(|| step.split_once('>').map_or(step, |(_, text)| text));
        return (Some(step.trim()), count(memmem::find_iter(history.as_bytes(), "<step")));
    }
    let lines = || history.lines().map(without_bullet).filter(|line| !is_nothing(line));
    (lines().next_back(), count(lines()))
}

/// An action followed by a description of its element (`click [12] where [12] is link 'Next'`). The
/// description replaces the number, which changes each time the page is built.
fn by_description(action: &str) -> Cow<'_, str> {
    let Some((command, rest)) = action.split_once(" where [") else { return Cow::Borrowed(action) };
    let Some((id, description)) = rest.split_once("] is ") else { return Cow::Borrowed(action) };
    match command.split_once(&["[", id, "]"].concat()) {
        Some((before, after)) => Cow::Owned([before, "[", description, "]", after].concat()),
        None => Cow::Borrowed(action),
    }
}

fn count(items: impl Iterator) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}

/// The action after `- `, `3. ` or `Step 3: `.
fn without_bullet(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['-', '*', '•']).trim_start();
    let numbered = line.strip_prefix("Step ").or_else(|| line.strip_prefix("step ")).unwrap_or(line);
    let number = numbered.len() - numbered.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    match numbered[number..].strip_prefix(['.', ':', ')', '-']) {
        Some(rest) if number > 0 => rest.trim_start(),
        _ => line,
    }
}

/// Whether the text says that there is no action yet.
fn is_nothing(line: &str) -> bool {
    let word = line.trim_matches(['.', '(', ')', '[', ']', '"', '\'']);
    word.is_empty()
        || ["none", "n/a", "null", "no previous action", "no action"].iter().any(|it| word.eq_ignore_ascii_case(it))
}

/// A page without step counters, times and element numbers, which change although the page does
/// not.
pub(super) fn comparable(page: &str) -> Cow<'_, str> {
    if !page.lines().any(|line| is_counter(line) || without_element_number(line).len() != line.len()) {
        return Cow::Borrowed(page);
    }
    let lines = page.lines().filter(|line| !is_counter(line)).map(without_element_number);
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// `Current step: 3/100`, `Step 3 of 100`, `Current date: …`.
fn is_counter(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '-', '*', '#', '<']);
    let is_step = line.strip_prefix("Step ").is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()));
    is_step || ["Current step", "Current date", "Current time", "step_info"].iter().any(|it| line.starts_with(it))
}

/// `link 'Next'` of `\t[1582] link 'Next'`.
fn without_element_number(line: &str) -> &str {
    let Some(rest) = line.trim_start().strip_prefix('[') else { return line };
    match rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).strip_prefix("] ") {
        Some(element) if !rest.starts_with(']') => element,
        _ => line,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;

    /// Task, actions, and the step as name, arguments and page.
    fn check(text: &str, task: &str, actions: u32, step: Option<(&str, &str, &str)>) {
        let history = read(text, false).unwrap();
        let found = history.step.as_ref().map(|(call, pages)| (&*call.name, &*call.arguments, pages.join("|")));
        let step = step.map(|(name, arguments, page)| (name, arguments, page.to_owned()));
        assert_eq!((&*history.task, history.actions, found), (task, actions, step), "{text}");
    }

    #[test]
    fn a_page_with_the_previous_action_is_read() {
        let prompt = |page: &str, action: &str| {
            format!(
                "OBSERVATION:\n{page}\nURL: http://shop.example/\nOBJECTIVE: Find a lamp\nPREVIOUS ACTION: {action}"
            )
        };
        check(&prompt("[1] link 'Lamps'", "None"), "Find a lamp", 0, None);
        let page = "[4] textbox 'Goal:'\nNote: none\n# Offers\nTask: browse";
        check(&prompt(page, "click [1]"), "Find a lamp", 1, Some(("click", "1", page)));
        let example = prompt("[9] link 'Example'", "scroll [down]") + "\nAction: ```click [9]```\n";
        let both = example + &prompt("[2] link 'Table'", "type [3] [lamp] [1]");
        check(&both, "Find a lamp", 1, Some(("type", "[3] [lamp] [1]", "[2] link 'Table'")));
    }

    #[test]
    fn a_history_of_steps_is_read() {
        let prompt = |history: &str| {
            format!(
                "# Instructions\nReview the page.\n\n## Goal:\nFind a lamp\n\n# Observation of current step:\n\
                 ## AXTree:\nRootWebArea\n\t[a51] link 'Lamps'\n\n# History of interaction with the task:\n{history}\n\
                 # Action space:\nclick(bid: str)\n\n# Concrete Example\n<action>\nfill('a12', 'x')\n</action>\n"
            )
        };
        check(&prompt(""), "Find a lamp", 0, None);
        let history = "## step 0\n<think>\nso\n</think>\n<action>\nnoop()\n</action>\n\n## step 1\n<action>\nclick('a51')\n</action>";
        let page = "## AXTree:\nRootWebArea\n\t[a51] link 'Lamps'";
        check(&prompt(history), "Find a lamp", 2, Some(("click", "'a51'", page)));
    }

    #[test]
    fn lists_and_tags_are_read() {
        let list = "Task: Find a lamp\nPrevious actions:\n1. click('3')\n2. scroll(0, 300)\nCurrent page:\nShop";
        check(list, "Find a lamp", 2, Some(("scroll", "0, 300", "Shop")));
        let tags = "<agent_history>\n<step_1>\nMemory: a\nAction Results:\nClicked 3\n</step_1>\n<step_2>\nMemory: b\n\
            Action Results:\nClicked 7\n</step_2>\n</agent_history>\n<agent_state>\n<user_request>\nFind a lamp\n\
            </user_request>\n<step_info>Step 3 of 100</step_info>\n</agent_state>\n<browser_state>\nShop\n</browser_state>";
        check(tags, "Find a lamp", 2, Some(("Clicked", "7", "Shop")));
    }

    #[test]
    fn a_screenshot_stands_for_the_page() {
        let history = read("Task: Find a lamp\nPrevious actions:\nclick [3]\nWhat is next?", true);
        assert_eq!(history.unwrap().actions, 2);
        assert!(read("Task: Find a lamp\nPrevious actions:\nclick [3]", false).is_none());
    }

    #[test]
    fn counters_and_element_numbers_are_no_part_of_a_page() {
        for (page, expected) in [
            ("Shop\nCurrent step: 3/100\nCurrent date: today\nLamps", "Shop\nLamps"),
            ("Tab 0\n\t[1582] link 'Next'\n\t\t[7] text 'Page [2] of 9'", "Tab 0\nlink 'Next'\ntext 'Page [2] of 9'"),
            ("Shop\nStep by step\n[] x\n[a51] link", "Shop\nStep by step\n[] x\n[a51] link"),
        ] {
            assert_eq!(comparable(page), expected);
        }
    }

    #[test]
    fn an_element_is_known_by_its_description() {
        assert_eq!(by_description("click [12] where [12] is link 'Next'"), "click [link 'Next']");
        assert_eq!(by_description("type [4] [lamp] where [4] is textbox 'Search'"), "type [textbox 'Search'] [lamp]");
        assert_eq!(by_description("goto [where [x] is y]"), "goto [where [x] is y]");
        assert_eq!(by_description("click [12]"), "click [12]");
    }

    #[test]
    fn other_prompts_have_no_history() {
        for text in ["", "Task: a", "# Goal\nx\n# Observation\ny", "Observation: a\nHistory: b\nTask: c"] {
            assert!(read(text, false).is_none(), "{text}");
        }
    }
}
