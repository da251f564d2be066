//! Estimates tokens that the provider did not report, at four bytes each: for budgets before a
//! call, and for answers that broke off.

use memchr::{memchr, memchr2};
use model::{Answered, Asked, Usage};

/// The approximate number of bytes per token.
const BYTES_PER_TOKEN: u64 = 4;
/// A longer string without a space is an image, a recording or a file.
const LONGEST_WORD: usize = 4096;
/// The tokens of such an attachment: about what providers count for a large image.
const ATTACHMENT_TOKENS: u64 = 1600;

/// Estimates the tokens of a request that was read from a body of this length, in constant time.
pub fn asked_tokens(length: usize, asked: &Asked<'_>) -> u64 {
    let attached: usize = asked.attachments.iter().map(|attachment| attachment.len()).sum();
    let text = length.saturating_sub(attached) as u64;
    text.div_ceil(BYTES_PER_TOKEN) + ATTACHMENT_TOKENS * asked.attachments.len() as u64
}

/// Estimates the tokens of a body that cannot be read: an incomplete answer, a request of unknown
/// form.
pub fn body_tokens(body: &[u8]) -> u64 {
    let (mut bytes, mut attachments) = (0, 0);
    let mut rest = body;
    while !rest.is_empty() {
        let end = memchr(b'"', rest).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        if is_attachment(piece) {
            attachments += 1;
        } else {
            bytes += piece.len() as u64;
        }
        rest = after.get(1..).unwrap_or_default();
    }
    bytes.div_ceil(BYTES_PER_TOKEN) + attachments * ATTACHMENT_TOKENS
}

fn is_attachment(piece: &[u8]) -> bool {
    piece.len() > LONGEST_WORD && memchr2(b' ', b'\\', piece).is_none()
}

/// Completes the usage of a call whose provider reported it in part or not at all.
pub fn estimated_usage(reported: Usage, asked_tokens: u64, answered: Option<&Answered>) -> Usage {
    let bytes = answered.map_or(0, |answered| {
        let calls = answered.tool_calls.iter().map(|call| call.name.len() + call.arguments.len());
        answered.text.len() + calls.sum::<usize>()
    });
    let came = (bytes as u64).div_ceil(BYTES_PER_TOKEN);
    Usage {
        input: reported.input.or(Some(asked_tokens)),
        output: Some(reported.output.unwrap_or(0).max(came)),
        ..reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attachments_are_not_counted_by_their_bytes() {
        let image = format!(r#"{{"content":[{{"text":"What is this?"}},{{"url":"{}"}}]}}"#, "iVBO".repeat(100_000));
        assert!((1600..1620).contains(&body_tokens(image.as_bytes())), "{}", body_tokens(image.as_bytes()));
        let text = format!(r#"{{"content":"{}"}}"#, "to be or not ".repeat(1000));
        assert!((3200..3300).contains(&body_tokens(text.as_bytes())));
        assert_eq!(body_tokens(b""), 0);
    }

    #[test]
    fn reported_usage_precedes_estimates() {
        let answered = Answered { text: "x".repeat(400), ..Answered::default() };
        // Anthropic reports the input and the first output token at the start.
        let reported = Usage { input: Some(10), output: Some(1), ..Usage::default() };
        let usage = estimated_usage(reported, 999, Some(&answered));
        assert_eq!((usage.input, usage.output), (Some(10), Some(100)));
        let usage = estimated_usage(Usage::default(), 999, None);
        assert_eq!((usage.input, usage.output), (Some(999), Some(0)));
    }
}
