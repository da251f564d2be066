//! A small sample of the lines that a result shows: it tells whether two parts of one file have
//! most of their lines in common.

use twox_hash::XxHash3_64;

/// A shorter line stands in many places: a bracket, a blank.
const SHORTEST_LINE: usize = 16;
/// A sample of fewer lines means little.
const FEWEST_LINES: usize = 8;
/// How many lines are sampled.
const SAMPLES: usize = 4;

/// One byte of each of four lines: those with the lowest hashes in four orders. `None` if there are
/// few lines.
pub(crate) fn sample<'t>(results: impl Iterator<Item = &'t str>) -> Option<u32> {
    let (mut least, mut count) = ([u64::MAX; SAMPLES], 0);
    for line in results.flat_map(str::lines).map(without_number).filter(|line| line.len() >= SHORTEST_LINE) {
        let hash = XxHash3_64::oneshot(line.as_bytes());
        let orders = (0..).step_by(16).map(|bits| hash.rotate_left(bits));
        least.iter_mut().zip(orders).for_each(|(least, hash)| *least = hash.min(*least));
        count += 1;
    }
    (count >= FEWEST_LINES).then(|| u32::from_le_bytes(least.map(|hash| hash as u8)))
}

/// Whether three of the four lines are in both samples: then the texts share most of their lines.
pub(crate) fn have_most_in_common(one: u32, other: u32) -> bool {
    let pairs = one.to_le_bytes().into_iter().zip(other.to_le_bytes());
    pairs.filter(|(one, other)| one == other).count() + 1 >= SAMPLES
}

/// A line without the number that tools put before it.
fn without_number(line: &str) -> &str {
    let text = line.trim_start().trim_start_matches(|character: char| character.is_ascii_digit());
    text.trim_matches(|character: char| character.is_whitespace() || matches!(character, ':' | '|' | '→' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(from: usize, to: usize) -> Option<u32> {
        let line = |number: usize| format!("{number:>6}\t    let value_{} = compute({number});", number * 7919 % 1000);
        sample([(from..to).map(line).collect::<Vec<_>>().join("\n").as_str()].into_iter())
    }

    #[test]
    fn parts_that_overlap_have_most_lines_in_common() {
        let check = |one: Option<u32>, other: Option<u32>, expected: bool| {
            let (one, other) = (one.expect("it has lines"), other.expect("it has lines"));
            assert_eq!(have_most_in_common(one, other), expected);
        };
        check(part(0, 100), part(0, 100), true);
        check(part(0, 100), part(5, 102), true);
        check(part(0, 100), part(100, 200), false);
        check(part(0, 100), part(95, 195), false);
    }

    #[test]
    fn the_number_of_a_line_does_not_matter() {
        let numbered =
            |from: usize| (from..from + 9).map(move |number| format!("{number}: {}\n", "x".repeat(20 + number - from)));
        let sample = |from| sample([numbered(from).collect::<String>().as_str()].into_iter());
        assert_eq!(sample(1), sample(40));
        assert!(sample(1).is_some());
    }

    #[test]
    fn few_or_short_lines_have_no_sample() {
        for none in ["", "one long line that stands alone", "}\n".repeat(40).as_str()] {
            assert_eq!(sample([none].into_iter()), None, "{none}");
        }
    }
}
