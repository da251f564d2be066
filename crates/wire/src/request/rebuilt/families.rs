//! Numbers that never rest: how many people look at a page says nothing about what the agent did.

use std::collections::HashMap;

use super::lines::Line;

/// More of them are not remembered of one run.
const MOST: usize = 20_000;

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
}

/// The families of lines that a run has shown.
#[derive(Debug, Default)]
pub(super) struct Families(HashMap<u64, Family>);

impl Families {
    /// Follows the numbers of lines that differ in nothing else. Returns whether no other line is
    /// new.
    pub(super) fn count(&mut self, news: &[&Line], steps: u32, is_repeated: bool) -> bool {
        if self.0.len() > MOST {
            self.0.clear();
        }
        let mut times: HashMap<u64, (u32, f64)> = HashMap::new();
        for line in news {
            times.entry(line.family).or_insert((0, line.number.unwrap_or(0.0))).0 += 1;
        }
        let unknown = times.keys().filter(|name| !self.0.contains_key(name)).count();
        for (name, (times, number)) in times {
            let family = self.0.entry(name).or_insert(Family {
                number,
                since: steps,
                changes: 0,
                idle_changes: 0,
                busy_changes: 0,
                rose: false,
                turns: 0,
            });
            if times > 1 {
                *family =
                    Family { number, since: steps, changes: 0, idle_changes: 0, busy_changes: 0, turns: 0, ..*family };
                continue;
            }
            family.changes += 1;
            family.idle_changes += u32::from(is_repeated);
            family.busy_changes += u32::from(unknown > 0);
            let rises = number > family.number;
            family.turns += u32::from(family.changes > 2 && rises != family.rose);
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
    /// Whether its number goes up and down at nearly every step, whatever the agent does. A count
    /// that begins again with the next item turns once.
    fn is_noise(&self, steps: u32) -> bool {
        let is_usual = self.changes * 4 >= (steps - self.since + 1) * 3;
        let is_jumpy = self.turns > 0 && self.turns * 4 >= self.changes;
        is_usual && is_jumpy && (self.idle_changes >= 2 || self.busy_changes >= 4)
    }
}
