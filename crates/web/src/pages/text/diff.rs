//! Compares two texts: which words of one are in the other too, in the same order, and which are
//! not.

/// A run of words that are all in the other text, or all not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pages) struct Run {
    pub(in crate::pages) text: String,
    /// Whether the other text has it too.
    pub(in crate::pages) is_same: bool,
}

/// The middle that is compared word by word has at most this many words on each side; a longer one
/// counts as changed.
const MOST_WORDS: usize = 500;

/// `text` in runs, compared with `other`.
pub(in crate::pages) fn compare(text: &str, other: &str) -> Vec<Run> {
    let (words, others) = (split(text), split(other));
    let shared = words.iter().zip(&others).take_while(|(one, other)| one == other).count();
    let rest = words.len().min(others.len()) - shared;
    let tail = words.iter().rev().zip(others.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let (middle, other_middle) = (&words[shared..words.len() - tail], &others[shared..others.len() - tail]);

    let mut same = vec![true; shared];
    same.extend(in_both(middle, other_middle));
    same.resize(words.len(), true);
    runs(&words, &same)
}

/// All of `text` as one run, without a comparison.
pub(in crate::pages) fn alone(text: &str) -> Vec<Run> {
    vec![Run { text: text.to_owned(), is_same: true }]
}

/// Words with the white space that follows them.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive(char::is_whitespace).collect()
}

/// Which of `words` are part of the longest common subsequence with `others`.
fn in_both(words: &[&str], others: &[&str]) -> Vec<bool> {
    if words.len() > MOST_WORDS || others.len() > MOST_WORDS {
        return vec![false; words.len()];
    }
    let lengths = common_lengths(words, others);
    let (mut at, mut other_at) = (0, 0);
    let mut same = vec![false; words.len()];
    while at < words.len() && other_at < others.len() {
        if words[at] == others[other_at] {
            same[at] = true;
            (at, other_at) = (at + 1, other_at + 1);
        } else if lengths[at + 1][other_at] >= lengths[at][other_at + 1] {
            at += 1;
        } else {
            other_at += 1;
        }
    }
    same
}

/// The length of the longest common subsequence of every pair of ends.
fn common_lengths(words: &[&str], others: &[&str]) -> Vec<Vec<u16>> {
    let mut lengths = vec![vec![0_u16; others.len() + 1]; words.len() + 1];
    for at in (0..words.len()).rev() {
        for other_at in (0..others.len()).rev() {
            lengths[at][other_at] = if words[at] == others[other_at] {
                lengths[at + 1][other_at + 1] + 1
            } else {
                lengths[at + 1][other_at].max(lengths[at][other_at + 1])
            };
        }
    }
    lengths
}

fn runs(words: &[&str], same: &[bool]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (word, is_same) in words.iter().zip(same) {
        match runs.last_mut() {
            Some(run) if run.is_same == *is_same => run.text.push_str(word),
            _ => runs.push(Run { text: (*word).to_owned(), is_same: *is_same }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the runs; the words that differ are in brackets.
    fn check(text: &str, other: &str, expected: &str) {
        let shown: String = compare(text, other)
            .into_iter()
            .map(|run| if run.is_same { run.text } else { format!("[{}]", run.text) })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn repeated_and_changed_parts_are_marked() {
        check("fix order 17 now", "fix order 18 now", "fix order [17 ]now");
        check("the same", "the same", "the same");
        check("a b c d", "x b y d", "[a ]b [c ]d");
        check("all new", "quite different", "[all new]");
        check("", "something", "");
        check("something", "", "[something]");
        check("a a", "a", "[a ]a");
    }

    #[test]
    fn an_endless_middle_counts_as_changed() {
        let text = format!("start {} end", "x y ".repeat(MOST_WORDS));
        let runs = compare(&text, &format!("start {} end", "y x z ".repeat(MOST_WORDS)));
        assert_eq!(runs.len(), 3);
        assert!(runs[0].is_same && !runs[1].is_same && runs[2].is_same);
        assert_eq!(runs.iter().map(|run| run.text.len()).sum::<usize>(), text.len());
    }
}
