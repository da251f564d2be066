//! Whether the newest exchange of messages says anything that earlier messages have not said.
//! Thanks, excuses and plans come back in other sentences of the same few words; a new question or
//! answer has new words, in any language.

use std::borrow::Cow;

use super::vocabulary::Vocabulary;

/// An answer says nothing new if it has at most `NEW_WORDS` new words, and these are at most one in
/// `NEW_SHARE` of its words.
const NEW_WORDS: usize = 2;
const NEW_SHARE: usize = 5;

/// Whether the last two of `messages`, an answer and the reply to it, say nothing that earlier ones
/// have not said.
pub(super) fn is_idle(messages: &[Cow<'_, str>]) -> bool {
    let [earlier @ .., answer, prompt] = messages else { return false };
    if earlier.is_empty() {
        return false;
    }
    let earlier_words = Vocabulary::of(earlier.iter().map(Cow::as_ref));
    // Users say most things in one message: one new word in it is enough.
    let prompt = Vocabulary::of([prompt.as_ref()]);
    if prompt.new_words(&earlier_words) > 0 {
        return false;
    }
    let answer = Vocabulary::of([answer.as_ref()]);
    let new = answer.new_words(&earlier_words);
    !answer.is_empty() && new <= NEW_WORDS && new * NEW_SHARE <= answer.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: bool, messages: &[&'static str]) {
        let messages: Vec<Cow<'_, str>> = messages.iter().map(|text| (*text).into()).collect();
        assert_eq!(is_idle(&messages), expected, "{messages:?}");
    }

    #[test]
    fn the_same_words_in_another_order_say_nothing_new() {
        check(true, &["Thanks a lot, see you soon!", "Bye, take care.", "See you, thanks a lot!", "Take care, bye!"]);
        check(true, &["再见,祝你愉快", "祝你今天愉快,再见", "再见,祝你今天愉快", "祝你愉快"]);
        check(false, &["Thanks a lot, see you soon!", "Bye, take care.", "See you!", "Bye. Where is order 77?"]);
        check(false, &["one two three", "go on", "four five six seven", "go on"]);
        check(false, &["今天天气很好", "是的", "明天会下雨", "是的"]);
    }

    #[test]
    fn numbers_are_words() {
        check(false, &["Is it 50?", "Higher.", "Is it 75?", "Higher."]);
    }

    #[test]
    fn too_little_is_no_talk() {
        check(false, &[]);
        check(false, &["Hello", "Hello"]);
        check(false, &["Hello", "", "Hello"]);
    }
}
