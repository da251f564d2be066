//! The headings of prompts that are rebuilt at every step: `OBJECTIVE:`, `## Goal:`,
//! `<user_request>`.

/// The kind of section under a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Task,
    Page,
    /// The actions so far, or the last one.
    History,
    Other,
}

/// The style of a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// `OBJECTIVE:`
    Upper,
    /// `Objective:`
    Title,
    /// `## Goal:`, with its level.
    Hash(usize),
    /// `<user_request>`
    Tag,
}

/// A heading.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heading<'t> {
    pub(super) part: Part,
    style: Style,
    name: &'t str,
}

/// The names, in lower case.
const NAMES: [(&str, Part); 56] = [
    ("objective", Part::Task),
    ("goal", Part::Task),
    ("user goal", Part::Task),
    ("task", Part::Task),
    ("ultimate task", Part::Task),
    ("current task", Part::Task),
    ("user request", Part::Task),
    ("user_request", Part::Task),
    ("user instruction", Part::Task),
    ("user query", Part::Task),
    ("instruction", Part::Task),
    ("task instruction", Part::Task),
    ("you are asked to complete the following task", Part::Task),
    ("the current user goal/request is", Part::Task),
    ("observation", Part::Page),
    ("current observation", Part::Page),
    ("observation of current step", Part::Page),
    ("current page accessibility tree", Part::Page),
    ("current page dom", Part::Page),
    ("accessibility tree", Part::Page),
    ("axtree", Part::Page),
    ("current page", Part::Page),
    ("current web page", Part::Page),
    ("current webpage", Part::Page),
    ("current state", Part::Page),
    ("current screen", Part::Page),
    ("current screenshot", Part::Page),
    ("interactive elements", Part::Page),
    ("browser state", Part::Page),
    ("browser_state", Part::Page),
    ("page", Part::Page),
    ("previous action", Part::History),
    ("previous actions", Part::History),
    ("past actions", Part::History),
    ("last action", Part::History),
    ("action history", Part::History),
    ("interaction history", Part::History),
    ("history", Part::History),
    ("history of interaction with the task", Part::History),
    ("history of past actions", Part::History),
    ("operation history", Part::History),
    ("previous steps", Part::History),
    ("here is a history of what you have done so far", Part::History),
    ("agent_history", Part::History),
    ("agent history", Part::History),
    ("url", Part::Other),
    ("current url", Part::Other),
    ("tabs", Part::Other),
    ("currently open tabs", Part::Other),
    ("action space", Part::Other),
    ("rules", Part::Other),
    ("hints", Part::Other),
    ("memory", Part::Other),
    ("next action", Part::Other),
    ("error message from last action", Part::Other),
    ("step_info", Part::Other),
];

/// The longest heading that is recognised, in bytes.
const MAX_HEADING: usize = 64;

/// The heading at the start of a line, and its length in bytes.
pub(super) fn heading_of(line: &str) -> Option<(Heading<'_>, usize)> {
    match line.bytes().find(|byte| *byte != b' ')? {
        b'#' => hash_heading(line),
        b'<' => tag_heading(line),
        b'A'..=b'Z' => colon_heading(line),
        _ => None,
    }
}

/// `## Goal:`; the text after the colon belongs to the section.
fn hash_heading(line: &str) -> Option<(Heading<'_>, usize)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let title = text.strip_prefix(' ')?;
    let (name, length) = match title.bytes().take(MAX_HEADING).position(|byte| byte == b':') {
        Some(colon) => (&title[..colon], level + 1 + colon + 1),
        None => (title, line.len()),
    };
    let name = name.trim_matches(['*', ' ', '\r']);
    let part = part_of(name).unwrap_or(Part::Other);
    Some((Heading { part, style: Style::Hash(level), name }, length))
}

/// `<user_request>`; its text may begin on the same line.
fn tag_heading(line: &str) -> Option<(Heading<'_>, usize)> {
    let start = line.find('<')? + 1;
    let length = line[start..].bytes().take(MAX_HEADING).position(|byte| byte == b'>')?;
    let name = &line[start..start + length];
    // Tags of a single word are markup of the page.
    let part = part_of(name).filter(|part| name.contains('_') && *part != Part::Other)?;
    Some((Heading { part, style: Style::Tag, name }, start + length + 1))
}

/// `OBJECTIVE:` and `Objective:`.
fn colon_heading(line: &str) -> Option<(Heading<'_>, usize)> {
    let colon = line.bytes().take(MAX_HEADING).position(|byte| byte == b':')?;
    let name = line[..colon].trim();
    // On a page, `History:` is an ordinary heading.
    let part = part_of(name).filter(|_| name != "History")?;
    let is_upper = !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let style = if is_upper { Style::Upper } else { Style::Title };
    Some((Heading { part, style, name }, colon + 1))
}

fn part_of(name: &str) -> Option<Part> {
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, part)| *part)
}

impl Heading<'_> {
    /// Whether a section ends before a line with this heading. A page ends only at a heading of its
    /// own style, because pages hold all kinds of lines.
    pub(super) fn is_closed_by(&self, next: &Heading<'_>) -> bool {
        match (self.style, next.style) {
            (Style::Hash(level), Style::Hash(next)) => next <= level,
            (Style::Upper, Style::Upper) | (Style::Title, Style::Upper | Style::Title) => true,
            _ => self.part != Part::Page,
        }
    }

    /// The closing tag of a section that began with a tag.
    pub(super) fn closing_tag(&self) -> Option<String> {
        (self.style == Style::Tag).then(|| ["</", self.name, ">"].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(Part, usize)>) {
        assert_eq!(heading_of(line).map(|(heading, length)| (heading.part, length)), expected, "{line}");
    }

    #[test]
    fn headings_are_known_by_their_names() {
        check("OBJECTIVE: buy", Some((Part::Task, 10)));
        check("PREVIOUS ACTION: None", Some((Part::History, 16)));
        check("Previous actions:", Some((Part::History, 17)));
        check("## Goal:", Some((Part::Task, 8)));
        check("# Observation of current step:\r", Some((Part::Page, 30)));
        check("# History of past actions", Some((Part::History, 25)));
        check("<user_request>Buy", Some((Part::Task, 14)));
        check("# Anything", Some((Part::Other, 10)));
    }

    #[test]
    fn other_lines_are_no_headings() {
        for line in
            ["", "   ", "goal: x", "The goal: x", "#goal", "<p>", "<user_request", "[12] link 'Goal:'", "History: old"]
        {
            check(line, None);
        }
    }
}
