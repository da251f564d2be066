//! The prints of the newest long prompts, by a hash of their bytes: hashing bytes takes a fraction of
//! taking a text apart. One cache for each thread, so that there is no lock.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use model::Asked;
use twox_hash::XxHash3_64;

use super::PromptPrint;
use crate::fingerprint::digest::fold;

/// How many prints a thread keeps; a new one takes the place of another.
const PLACES: usize = 128;
/// A shorter prompt is soon taken apart.
const SHORTEST: usize = 128;

/// Texts come from outside: nobody can know which have the same hash.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));

thread_local! {
    static PRINTS: RefCell<[Option<(u64, PromptPrint)>; PLACES]> = const { RefCell::new([None; PLACES]) };
}

/// The print of the prompt of `asked`, made by `make` unless it is known.
pub(super) fn find_or(asked: &Asked<'_>, make: fn(&Asked<'_>) -> PromptPrint) -> PromptPrint {
    if asked.prompt.iter().map(|text| text.len()).sum::<usize>() < SHORTEST {
        return make(asked);
    }
    let key = key_of(asked);
    let place = key as usize % PLACES;
    let known = PRINTS.with_borrow(|prints| prints[place].filter(|(known, _)| *known == key));
    if let Some((_, print)) = known {
        return print;
    }
    let print = make(asked);
    PRINTS.with_borrow_mut(|prints| prints[place] = Some((key, print)));
    print
}

/// A hash of all that a print is made from.
fn key_of(asked: &Asked<'_>) -> u64 {
    let turn_message = asked.turn_message.as_deref().unwrap_or_default();
    let texts = asked.prompt.iter().chain(turn_message).map(|text| text.as_bytes());
    let attachments = asked.attachments.iter().map(|attachment| attachment.as_bytes());
    let counts =
        [asked.prompt.len(), asked.attachments.len(), asked.turn_message.as_ref().map_or(0, |it| 1 + it.len())];
    let counts = counts.into_iter().fold(*SEED, |key, count| fold(key, count as u64));
    texts.chain(attachments).fold(counts, |key, text| fold(key, XxHash3_64::oneshot_with_seed(*SEED, text)))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::super::make_print;
    use super::*;

    proptest! {
        /// Also with the same pieces in other places.
        #[test]
        fn a_known_prompt_has_the_print_that_it_would_be_given(
            pieces in prop::collection::vec("[a-c0-9 ]{0,3}", 0..4),
            cuts in prop::collection::vec((0..4_usize, 0..4_usize), 1..6),
        ) {
            let long = "words of a task that is long enough to be kept ".repeat(4);
            for (first, second) in cuts {
                let (first, second) = (first.min(pieces.len()), second.min(pieces.len()));
                let text = |text: &String| Cow::Owned(text.clone());
                let prompt = [Cow::Borrowed(long.as_str())].into_iter().chain(pieces[..first].iter().map(text));
                let turn_message = (second > first).then(|| pieces[first..second].iter().map(text).collect());
                let attachments = pieces[second.max(first)..].iter().map(String::as_str).collect();
                let asked = Asked { prompt: prompt.collect(), turn_message, attachments, ..Asked::default() };
                for _ in 0..2 {
                    prop_assert_eq!(find_or(&asked, make_print), make_print(&asked));
                }
            }
        }
    }
}
