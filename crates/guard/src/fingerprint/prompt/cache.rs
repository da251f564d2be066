//! The prints of the newest prompts: an agent sends the same one with every step of its work on it.

use model::Asked;

use super::PromptPrint;
use crate::fingerprint::print_cache::{self, PrintCache};

/// How many prints a thread keeps.
const PLACES: usize = 128;
/// A shorter prompt is not looked up: reading it costs as much as a miss.
const SHORTEST: usize = 16;

thread_local! {
    static PRINTS: PrintCache<PromptPrint, PLACES> = const { PrintCache::new() };
}

/// The print of the prompt of `asked`, made by `make` unless it is known.
pub(super) fn find_or(asked: &Asked<'_>, make: fn(&Asked<'_>) -> PromptPrint) -> PromptPrint {
    if asked.prompt.iter().map(|text| text.len()).sum::<usize>() < SHORTEST {
        return make(asked);
    }
    PRINTS.with(|prints| prints.find_or(key_of(asked), || make(asked)))
}

/// A hash of everything that a print is made from.
fn key_of(asked: &Asked<'_>) -> u64 {
    let turn_message = asked.turn_message.as_deref().unwrap_or_default();
    let texts = asked.prompt.iter().chain(turn_message).map(|text| text.as_bytes());
    let attachments = asked.attachments.iter().map(|attachment| attachment.as_bytes());
    let counts = [
        asked.prompt.len(),
        asked.attachments.len(),
        asked.turn_message.as_ref().map_or(0, |it| 1 + it.len()),
        usize::from(asked.turn_position > 0),
    ];
    print_cache::key_of(&counts, texts.chain(attachments))
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
