//! The difference of two pages, line by line.

use std::collections::HashMap;

use serde::Serialize;

/// A step that turns the old page into the new one.
#[derive(Serialize, Debug, PartialEq)]
#[serde(untagged)]
enum Step<'a> {
    /// Copies this many lines of the old page, from a line on.
    Copy(usize, usize),
    /// Inserts new lines.
    Insert(Vec<&'a str>),
}

/// The steps from `old` to `new`, as JSON: `[[from, count], ["a new line"], …]`.
pub(super) fn between(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split('\n').collect();
    // A list always serialises.
    serde_json::to_string(&steps(&old, new.split('\n'))).unwrap_or_default()
}

fn steps<'a>(old: &[&str], new: impl Iterator<Item = &'a str>) -> Vec<Step<'a>> {
    let places = unique_places(old);
    let (mut steps, mut at) = (Vec::new(), 0);
    for line in new {
        let follows = (old.get(at) == Some(&line)).then_some(at);
        match follows.or_else(|| places.get(line).copied().flatten()) {
            Some(place) => {
                copy(&mut steps, place);
                at = place + 1;
            }
            None => insert(&mut steps, line),
        }
    }
    steps
}

/// The position of each line that occurs only once. A line that many rows share does not show which
/// row continues.
fn unique_places<'a>(old: &[&'a str]) -> HashMap<&'a str, Option<usize>> {
    let mut places = HashMap::with_capacity(old.len());
    for (place, line) in old.iter().enumerate() {
        places.entry(*line).and_modify(|found| *found = None).or_insert(Some(place));
    }
    places
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

/// The page without its relative times, which change every second and which the browser writes
/// itself.
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

    /// Applies the steps as a browser does.
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
        let rows = rows.rev().map(|row| {
            let shared = "    <td class=\"event\">Call 200</td>";
            format!("  <tr data-key=\"row-{row}\">\n{shared}\n    <td>the call number {row}</td>\n  </tr>")
        });
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
        assert!(delta.len() < 250, "{delta}");
        assert_eq!(between(&old, &old), "[[0,204]]");
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
