//! The difference of two pages, line by line.

use std::collections::HashMap;

use serde::Serialize;

/// A step that makes the new page from the old one.
#[derive(Serialize, Debug, PartialEq)]
#[serde(untagged)]
enum Step<'a> {
    /// So many lines of the old page, from this one on.
    Copy(usize, usize),
    /// New lines.
    Insert(Vec<&'a str>),
}

/// The steps from `old` to `new`, as JSON: `[[from, count], ["a new line"], …]`.
pub(super) fn between(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split('\n').collect();
    // A list always serialises.
    serde_json::to_string(&steps(&old, new.split('\n'))).unwrap_or_default()
}

fn steps<'a>(old: &[&str], new: impl Iterator<Item = &'a str>) -> Vec<Step<'a>> {
    // The first place of each line after the last one that was used; lists only grow shorter or move, so that is enough.
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, line) in old.iter().enumerate().rev() {
        places.entry(line).or_default().push(place);
    }
    let (mut steps, mut at) = (Vec::new(), 0);
    for line in new {
        let place = if old.get(at) == Some(&line) { Some(at) } else { next_place(&mut places, line, at) };
        match place {
            Some(place) => {
                copy(&mut steps, place);
                at = place + 1;
            }
            None => insert(&mut steps, line),
        }
    }
    steps
}

/// The first place of `line` from `at` on. Earlier ones are not needed again: pages keep their order.
fn next_place(places: &mut HashMap<&str, Vec<usize>>, line: &str, at: usize) -> Option<usize> {
    let found = places.get_mut(line)?;
    while found.last().is_some_and(|place| *place < at) {
        found.pop();
    }
    // A line as short as a closing tag is everywhere: jumping to it would skip what follows.
    found.last().copied().filter(|_| line.len() > 24)
}

fn copy(steps: &mut Vec<Step<'_>>, place: usize) {
    match steps.last_mut() {
        Some(Step::Copy(from, count)) if *from + *count == place => *count += 1,
        _ => steps.push(Step::Copy(place, 1)),
    }
}

fn insert<'a>(steps: &mut Vec<Step<'a>>, line: &'a str) {
    match steps.last_mut() {
        Some(Step::Insert(lines)) => lines.push(line),
        _ => steps.push(Step::Insert(vec![line])),
    }
}

/// The page without the text of its times, which changes every second and which the browser writes itself.
pub(super) fn without_relative_times(page: &str) -> String {
    let mut text = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("<time ") {
        let (Some(start), Some(end)) = (after.find('>'), after.find("</time>")) else { break };
        text.push_str(before);
        text.push_str("<time ");
        text.push_str(&after[..=start.min(end)]);
        rest = &after[end..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::Value;

    use super::*;

    /// What a browser does with the steps.
    fn apply(old: &str, delta: &str) -> String {
        let old: Vec<&str> = old.split('\n').collect();
        let steps: Vec<Vec<Value>> = serde_json::from_str(delta).unwrap();
        let mut lines: Vec<String> = Vec::new();
        for step in steps {
            match step.first().and_then(Value::as_u64) {
                Some(from) => {
                    let (from, count) = (from as usize, step[1].as_u64().unwrap() as usize);
                    lines.extend(old[from..from + count].iter().map(|line| (*line).to_owned()));
                }
                None => lines.extend(step.iter().map(|line| line.as_str().unwrap().to_owned())),
            }
        }
        lines.join("\n")
    }

    fn table(rows: std::ops::Range<u32>) -> String {
        let rows =
            rows.rev().map(|row| format!("  <tr data-key=\"row-{row}\">\n    <td>the call number {row}</td>\n  </tr>"));
        let rows: Vec<String> = rows.collect();
        format!("<h1>Calls</h1>\n<table>\n{}\n</table>\n<p>All of them are shown here.</p>", rows.join("\n"))
    }

    #[test]
    fn steps_make_the_new_page_of_the_old_one() {
        let pages = [table(0..50), table(3..53), table(3..10), String::new(), "one line".to_owned(), table(0..1)];
        for old in &pages {
            for new in &pages {
                assert_eq!(&apply(old, &between(old, new)), new);
            }
        }
    }

    #[test]
    fn one_new_row_costs_one_row() {
        let (old, new) = (table(0..50), table(1..51));
        let delta = between(&old, &new);
        assert!(delta.len() < 200, "{delta}");
        assert_eq!(between(&old, &old), "[[0,154]]");
    }

    #[test]
    fn relative_times_are_left_out_and_nothing_else() {
        let page =
            "<p>a <time datetime=\"1\" title=\"1\">3 s ago</time>, b <time datetime=\"2\">4 s ago</time> &lt;time </p>";
        let expected = "<p>a <time datetime=\"1\" title=\"1\"></time>, b <time datetime=\"2\"></time> &lt;time </p>";
        assert_eq!(without_relative_times(page), expected);
        assert_eq!(without_relative_times("<time broken"), "<time broken");
    }
}
