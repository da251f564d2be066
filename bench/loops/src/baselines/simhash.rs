//! SimHash over shingles of normalised words, for the literal formula.

/// The hash of a text; `None` if it has no words.
pub(super) fn simhash(text: &str) -> Option<u64> {
    let normalised = normalise(text);
    let words: Vec<&str> = normalised.split(' ').filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return None;
    }
    let mut votes = [0_i32; 64];
    for shingle in words.windows(3.min(words.len())) {
        let hash = hash(shingle);
        for (bit, vote) in votes.iter_mut().enumerate() {
            *vote += if hash >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    Some(votes.iter().enumerate().filter(|(_, vote)| **vote > 0).fold(0, |hash, (bit, _)| hash | 1 << bit))
}

/// Similar: fewer than three bits differ.
pub(super) fn is_similar(one: Option<u64>, other: Option<u64>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if (one ^ other).count_ones() < 3)
}

/// FNV-1a, mixed so that all bits depend on all words.
fn hash(words: &[&str]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

/// Lower case; UUIDs, times and numbers become placeholders; white space becomes single spaces.
pub(super) fn normalise(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<String> = lower.split_whitespace().map(normalise_word).collect();
    words.join(" ")
}

fn normalise_word(word: &str) -> String {
    let inner = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let placeholder = if is_uuid(inner) {
        "<id>"
    } else if is_time(inner) {
        "<ts>"
    } else {
        return mask_numbers(word);
    };
    word.replacen(inner, placeholder, 1)
}

fn is_uuid(word: &str) -> bool {
    let groups: Vec<usize> = word.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12] && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// `2026-03-03`, alone or with a time behind it.
fn is_time(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 10
        && bytes[..10].iter().enumerate().all(|(place, byte)| match place {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
        && bytes[10..].iter().all(|byte| byte.is_ascii_digit() || b"t:.z+-".contains(byte))
}

/// Every run of digits, with a decimal point in it, becomes one placeholder.
fn mask_numbers(word: &str) -> String {
    let mut masked = String::new();
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_ascii_digit() {
            masked.push(letter);
            continue;
        }
        while letters.next_if(|next| next.is_ascii_digit() || *next == '.').is_some() {}
        masked.push_str("<num>");
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_times_and_numbers_are_masked() {
        assert_eq!(normalise("Order  #12345"), "order #<num>");
        assert_eq!(normalise("at 2026-03-03T09:00:00Z!"), "at <ts>!");
        assert_eq!(normalise("(0193A4B0-aaaa-7bbb-8ccc-0123456789ab)"), "(<id>)");
    }

    #[test]
    fn texts_that_differ_in_numbers_are_similar_and_others_are_not() {
        let hash = |text: &str| simhash(text);
        assert!(is_similar(hash("What is the status of order 17?"), hash("What is the status of order 4711?")));
        assert!(!is_similar(hash("What is the status of the order?"), hash("Please translate this text into Greek.")));
        assert!(!is_similar(hash(""), hash("")));
    }
}
