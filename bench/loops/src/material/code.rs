//! Lines of code that look like code and differ from each other.

use super::words::{ADJECTIVES, NOUNS, VERBS, identifier};
use crate::rng::Rng;

/// One line.
pub(crate) fn line(rng: &mut Rng) -> String {
    let (noun, other) = (rng.pick(NOUNS), rng.pick(NOUNS));
    let call = identifier(rng);
    match rng.below(7) {
        0 => format!("let {noun} = {call}({other});"),
        1 => {
            format!("if {noun}.is_{}() {{ return {call}({other}); }}", rng.pick(&["empty", "closed", "valid", "none"]))
        }
        2 => format!("for {other} in {noun}.{}() {{ {call}({other}); }}", rng.pick(VERBS)),
        3 => format!("{noun}.{call}({other}, {});", rng.range(1..=64)),
        4 => format!("assert {call}({noun}) == {other}"),
        5 => format!("return {call}({noun}) or {other}"),
        _ => format!("// The {} {noun} is handled by {call}.", rng.pick(ADJECTIVES)),
    }
}

/// Some lines.
pub(crate) fn lines(rng: &mut Rng, count: usize) -> String {
    (0..count).map(|_| line(rng)).collect::<Vec<_>>().join("\n")
}

/// A file as a reading tool shows it, with line numbers.
pub(crate) fn listing(rng: &mut Rng, first: usize, count: usize) -> String {
    (first..first + count).map(|number| format!("{number:>6}\t{}\n", line(rng))).collect()
}
