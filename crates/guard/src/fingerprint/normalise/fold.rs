//! Unicode: NFC and lower case for what is not ASCII. ASCII stretches are copied as they are, since
//! most of any text with code or markup is ASCII and the scan lowers it anyway.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// `text` in NFC, with everything but ASCII in lower case.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.bytes().position(|byte| !byte.is_ascii()) {
        // The ASCII character before may take an accent; the one after never composes with the run.
        let (ascii, tail) = rest.split_at(first.saturating_sub(1));
        let end = tail.bytes().skip(1).position(|byte| byte.is_ascii()).map_or(tail.len(), |after| after + 1);
        let (run, after) = tail.split_at(end);
        folded.push_str(ascii);
        fold_run(run, &mut folded);
        rest = after;
    }
    folded.push_str(rest);
    folded
}

fn fold_run(run: &str, folded: &mut String) {
    if is_nfc_quick(run.chars()) == IsNormalized::Yes {
        folded.extend(run.chars().flat_map(char::to_lowercase));
    } else {
        folded.extend(run.nfc().flat_map(char::to_lowercase));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn folding_by_stretches_equals_folding_the_whole(text in "[a-zE \u{301}\u{327}é\u{1100}-\u{1112}\u{1161}-\u{1170}가-갛\u{304b}\u{3099}ÄΩ]{0,24}") {
            let whole: String = text.nfc().flat_map(char::to_lowercase).collect();
            prop_assert_eq!(fold(&text).to_lowercase(), whole.to_lowercase());
        }
    }
}
