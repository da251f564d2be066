//! Numbers that never rest: how many people look at a page says nothing about what the agent did.

use std::collections::HashMap;

use super::lines::{Line, MOST_NUMBERS, Numbers};

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
    numbers: Numbers,
    since: u32,
    changes: u32,
    /// How often it changed although the agent did what it had done before, and how often although
    /// something else was new.
    idle_changes: u32,
    busy_changes: u32,
    movements: [Movement; MOST_NUMBERS],
}

/// How one number of a family moves.
#[derive(Debug, Default)]
struct Movement {
    changes: u32,
    /// Whether it rose at the last change, and how often that was different the time before.
    rose: bool,
    turns: u32,
    /// Whether it rose when the agent did this the last time, and how often that was different the
    /// time before: what an action does to a count is always the same.
    rose_by: HashMap<u64, bool>,
    turns_by: u32,
}

/// So many actions are remembered of one number.
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
        let mut times: HashMap<u64, (u32, Numbers)> = HashMap::new();
        for line in news {
            times.entry(line.family).or_insert((0, line.numbers)).0 += 1;
        }
        let unknown = times.keys().filter(|name| !self.0.contains_key(name)).count();
        for (name, (times, numbers)) in times {
            let family = self.0.entry(name).or_insert_with(|| Family::new(numbers, steps));
            if times > 1 {
                *family = Family::new(numbers, steps);
                continue;
            }
            family.changes += 1;
            family.idle_changes += u32::from(action.is_repeated);
            family.busy_changes += u32::from(unknown > 0);
            let before = std::mem::replace(&mut family.numbers, numbers);
            for (at, movement) in family.movements.iter_mut().enumerate() {
                movement.add(numbers[at] - before[at], action.hash);
            }
        }
        unknown == 0
    }

    /// Whether the number of a family is noise.
    pub(super) fn are_noise(&self, family: u64, steps: u32) -> bool {
        self.0.get(&family).is_some_and(|family| family.is_noise(steps))
    }
}

impl Family {
    fn new(numbers: Numbers, since: u32) -> Family {
        let movements = std::array::from_fn(|_| Movement::default());
        Family { numbers, since, changes: 0, idle_changes: 0, busy_changes: 0, movements }
    }

    /// Whether its numbers go up and down at nearly every step, whatever the agent does. A count
    /// that begins again with the next item turns once.
    fn is_noise(&self, steps: u32) -> bool {
        let is_usual = self.changes * 4 >= (steps - self.since + 1) * 3;
        let is_noise = |movement: &Movement| {
            let is_jumpy = movement.turns > 0 && movement.turns * 4 >= movement.changes;
            let is_idle = self.idle_changes >= 2 && movement.turns_by > 0;
            is_jumpy && (is_idle || self.busy_changes >= 4)
        };
        let mut moving = self.movements.iter().filter(|movement| movement.changes > 0).peekable();
        is_usual && moving.peek().is_some() && moving.all(is_noise)
    }
}

impl Movement {
    fn add(&mut self, change: f64, action: u64) {
        if change == 0.0 {
            return;
        }
        let rises = change > 0.0;
        self.turns += u32::from(self.changes > 0 && rises != self.rose);
        self.changes += 1;
        self.rose = rises;
        if self.rose_by.len() >= MOST_ACTIONS {
            self.rose_by.clear();
        }
        self.turns_by += u32::from(self.rose_by.insert(action, rises).is_some_and(|before| before != rises));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::rebuilt::lines::Sheet;

    /// Whether lines are noise that came after the agent took `actions` in turn.
    fn is_noise(lines: &[&str], actions: &[u64]) -> bool {
        let mut families = Families::default();
        let mut family = 0;
        for (step, line) in lines.iter().enumerate() {
            let sheet = Sheet::of(line);
            let action = Action { hash: actions[step % actions.len()], is_repeated: step >= actions.len() };
            families.count(&[&sheet.lines[0]], step as u32, &action);
            family = sheet.lines[0].family;
        }
        families.are_noise(family, lines.len() as u32)
    }

    fn counts(numbers: &[u32], actions: &[u64]) -> bool {
        let lines: Vec<String> = numbers.iter().map(|number| format!("wood: {number}")).collect();
        is_noise(&lines.iter().map(String::as_str).collect::<Vec<_>>(), actions)
    }

    #[test]
    fn what_actions_do_to_a_count_is_no_noise() {
        assert!(counts(&[940, 1012, 977, 1103, 930, 1200, 1011], &[1]));
        assert!(counts(&[940, 1012, 977, 930, 1103, 1200, 1011, 990], &[1, 2]));
        // One action collects, the other uses it up.
        assert!(!counts(&[4, 2, 3, 1, 2, 0, 1, 0, 2, 1], &[1, 2]));
        assert!(!counts(&[1, 2, 3, 4, 5, 6, 7], &[1]));
    }

    #[test]
    fn a_line_is_noise_if_all_of_its_numbers_are() {
        let food = [17, 18, 16, 18, 15, 19, 17];
        let line = |(day, food): (usize, &u32)| format!("{} logs, food {food}", if day > 0 { day } else { 9 });
        let lines: Vec<String> = food.iter().map(|food| line((0, food))).collect();
        assert!(is_noise(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[1]));
        let lines: Vec<String> = food.iter().enumerate().map(|(day, food)| line((day + 1, food))).collect();
        assert!(!is_noise(&lines.iter().map(String::as_str).collect::<Vec<_>>(), &[1]));
    }
}
