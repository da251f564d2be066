//! Answers that name their parts in any layout: `why: …` and `do: …`, `<thought>…</thought>` and
//! `<act>…</act>`, `[[ ## next_thought ## ]]` and `[[ ## next_tool ## ]]`, headings.

use model::{ToolCall, is_thought};

use super::action::{announced, unannounced};

/// No name of a part is longer.
const LONGEST_NAME: usize = 32;

/// What an answer does: its parts that are no thoughts, or else its last part, if that is a whole
/// call. `None` if there is neither.
pub(super) fn action_besides_thoughts(text: &str) -> Option<ToolCall<'static>> {
    let (mut acts, mut last, mut before, mut has_thought) = (Vec::new(), Vec::new(), None, false);
    for piece in pieces(text) {
        let part = Part::of(piece);
        // Markup inside a thought is part of it.
        let is_inside = before.is_some_and(|before: Part<'_>| {
            before.is_tag && is_thought(before.name) && !part.is_some_and(|part| part.closes(&before))
        });
        if is_inside {
            continue;
        }
        if let Some(part) = part {
            has_thought |= is_thought(part.name);
            before = Some(part);
            last.clear();
        }
        let body = part.map_or(piece, |part| part.body).trim();
        last.push(body);
        if before.is_some_and(|before| !is_thought(before.name)) {
            acts.push(body);
        }
    }
    let acts = acts.join(" ");
    if has_thought && !acts.trim().is_empty() {
        return Some(announced(&acts));
    }
    before.and_then(|_| unannounced(last.join(" ").trim()))
}

/// The lines of a text, also cut before each tag.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let begins = |at: usize| match (bytes[at - 1], bytes[at], bytes.get(at + 1)) {
            (b'\n', ..) => true,
            (_, b'<', Some(next)) => next.is_ascii_alphabetic() || *next == b'/',
            _ => false,
        };
        let end = (1..bytes.len()).find(|at| begins(*at)).unwrap_or(bytes.len());
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The beginning of a part. A closing tag begins one without a name.
#[derive(Clone, Copy, Debug)]
struct Part<'t> {
    name: &'t str,
    body: &'t str,
    is_tag: bool,
    /// The name in a closing tag.
    closed: &'t str,
}

impl<'t> Part<'t> {
    /// Reads the name that a piece begins with.
    fn of(piece: &'t str) -> Option<Part<'t>> {
        let piece = piece.trim();
        let inner = piece.trim_start_matches(['*', '#', '[', '<', '/', ' ']);
        let mark = piece[..piece.len() - inner.len()].trim_end();
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ' | b'-') || !byte.is_ascii();
        let length = inner.bytes().take(LONGEST_NAME + 1).position(|byte| !is_part(byte)).unwrap_or(inner.len());
        let name = inner.get(..length).filter(|name| (1..=LONGEST_NAME).contains(&name.len()))?.trim();
        let after = &inner[length..];
        let body = match mark.bytes().last() {
            Some(b'<' | b'/') => after.strip_prefix('>')?,
            Some(b'#' | b'[') if after.starts_with([']', '#']) => after.trim_start_matches(['#', ']', ' ']),
            Some(b'#') if after.trim_start_matches(':').is_empty() => "",
            Some(b'#' | b'[') => return None,
            _ => after.trim_start_matches('*').strip_prefix(':')?.trim_start_matches('*'),
        };
        let closes = mark.ends_with('/');
        let (name, closed) = if closes { ("", name) } else { (name, "") };
        Some(Part { name, body, is_tag: mark.ends_with('<'), closed })
    }

    fn closes(&self, other: &Part<'_>) -> bool {
        self.closed == other.name
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_that_are_no_thoughts_are_the_action() {
        for (text, name, arguments) in [
            ("why: it broke\nwhat: search warranty period", "search", "warranty period"),
            ("**Reasoning:** so\n**Next:** open page 4", "open", "page 4"),
            ("<thought>so</thought>\n<act>open(page=4)</act>", "open", "page=4"),
            ("<thinking>so <b>x</b></thinking><next>open(4)</next>", "open", "4"),
            ("[[ ## next_thought ## ]]\nso\n\n[[ ## next_tool ## ]]\nopen\n\n[[ ## completed ## ]]", "open", ""),
            ("## Analysis\nso\n## Command\nmake all", "make", "all"),
            ("Meaning: so\nDoing: open(4)", "open", "4"),
        ] {
            let read = action_besides_thoughts(text);
            let read = read.as_ref().map(|call| (call.name.trim(), call.arguments.trim()));
            assert_eq!(read, Some((name, arguments)), "{text}");
        }
    }

    #[test]
    fn other_answers_are_not_cut() {
        for text in ["", "It is done: 7 files.", "Title: x\nBody: y", "why: because", "<p>so</p>", "# Notes\n- a"] {
            assert_eq!(action_besides_thoughts(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[<>/#*:\\[\\] a-cü\\n]{0,40}") {
            action_besides_thoughts(&text);
        }
    }
}
