//! Numbers that never rest: how many people look at a page says nothing about what the agent did.

use std::collections::HashMap;

use super::lines::Line;

/// More of them are not remembered of one run.
const MOST: usize = 20_000;

/// What the agent did before a prompt.
pub(super) struct Action {
    pub(super) hash: u64,
    /// Whether it did that before.
    pub(super) is_repeated: bool,
}

/// Lines that differ in numbers only, of which each prompt shows one new one.
#[derive(Debug)]
struct Family {
    number: f64,
    since: u32,
    changes: u32,
    /// How often it changed although the agent did what it had done before, and how often although
    /// something else was new.
    idle_changes: u32,
    busy_changes: u32,
    /// Whether it rose at the last change, and how often that was different the time before.
    rose: bool,
    turns: u32,
    /// Whether it rose when the agent did this the last time, and how often that was different the
    /// time before: what an action does to a count is always the same.
    rose_by: HashMap<u64, bool>,
    turns_by: u32,
}

/// So many actions are remembered of one family.
const MOST_ACTIONS: usize = 64;

/// The families of lines that a run has shown.
#[derive(Debug, Default)]
pub(super) struct Families(HashMap<u64, Family>);

impl Families {
    /// Follows the numbers of lines that differ in nothing else. Returns whether no other line is
    /// new.
    pub(super) fn count(&mut self, news: &[&Line], steps: u32, action: &Action) -> bool {
        if self.0.len() > MOST {
            self.0.clear();
        }
        let mut times: HashMap<u64, (u32, f64)> = HashMap::new();
        for line in news {
            times.entry(line.family).or_insert((0, line.number.unwrap_or(0.0))).0 += 1;
        }
        let unknown = times.keys().filter(|name| !self.0.contains_key(name)).count();
        for (name, (times, number)) in times {
            let family = self.0.entry(name).or_insert_with(|| Family::new(number, steps));
            if times > 1 {
                *family = Family::new(number, steps);
                continue;
            }
            family.changes += 1;
            family.idle_changes += u32::from(action.is_repeated);
            family.busy_changes += u32::from(unknown > 0);
            let rises = number > family.number;
            family.turns += u32::from(family.changes > 2 && rises != family.rose);
            if family.rose_by.len() > MOST_ACTIONS {
                family.rose_by.clear();
            }
            // The first number did not move.
            let before = if family.changes > 1 { family.rose_by.insert(action.hash, rises) } else { None };
            family.turns_by += u32::from(before.is_some_and(|before| before != rises));
            (family.rose, family.number) = (rises, number);
        }
        unknown == 0
    }

    /// Whether the number of a family is noise.
    pub(super) fn are_noise(&self, family: u64, steps: u32) -> bool {
        self.0.get(&family).is_some_and(|family| family.is_noise(steps))
    }
}

impl Family {
    fn new(number: f64, since: u32) -> Family {
        let rose_by = HashMap::new();
        Family {
            number,
            since,
            changes: 0,
            idle_changes: 0,
            busy_changes: 0,
            rose: false,
            turns: 0,
            rose_by,
            turns_by: 0,
        }
    }

    /// Whether its number goes up and down at nearly every step, whatever the agent does. A count
    /// that begins again with the next item turns once.
    fn is_noise(&self, steps: u32) -> bool {
        let is_usual = self.changes * 4 >= (steps - self.since + 1) * 3;
        let is_jumpy = self.turns > 0 && self.turns * 4 >= self.changes;
        let is_idle = self.idle_changes >= 2 && self.turns_by > 0;
        is_usual && is_jumpy && (is_idle || self.busy_changes >= 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::rebuilt::lines::Sheet;

    /// Whether a count is noise after the agent took `actions` in turn and saw these numbers.
    fn is_noise(numbers: &[u32], actions: &[u64]) -> bool {
        let mut families = Families::default();
        let mut family = 0;
        for (step, number) in numbers.iter().enumerate() {
            let sheet = Sheet::of(&format!("wood: {number}"));
            let action = Action { hash: actions[step % actions.len()], is_repeated: step >= actions.len() };
            families.count(&[&sheet.lines[0]], step as u32, &action);
            family = sheet.lines[0].family;
        }
        families.are_noise(family, numbers.len() as u32)
    }

    #[test]
    fn what_actions_do_to_a_count_is_no_noise() {
        assert!(is_noise(&[940, 1012, 977, 1103, 930, 1200, 1011], &[1]));
        assert!(is_noise(&[940, 1012, 977, 930, 1103, 1200, 1011, 990], &[1, 2]));
        // One action collects, the other uses it up.
        assert!(!is_noise(&[4, 2, 3, 1, 2, 0, 1, 0, 2, 1], &[1, 2]));
        assert!(!is_noise(&[1, 2, 3, 4, 5, 6, 7], &[1]));
    }
}
