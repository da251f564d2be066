//! Events as CSV (RFC 4180). Names come from agents and clients, so cells that a spreadsheet would
//! run as formulas are escaped.

use std::fmt::{Display, Write};

use model::{AgentId, BlockReason, NanoUsd};
use store::EventRow;

/// The first line.
pub(super) const HEADER: &str = "id,timestamp,agent_id,event_type,provider,model,status_code,latency_ms,first_byte_ms,\
    tokens_in,tokens_out,tokens_cached,tokens_cache_write,tokens_reasoning,cost_usd,estimated,conversation,score,blocked,\
    block_reason,count,error,key_id\r\n";

/// Characters that start a formula in a spreadsheet, full-width forms included.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// What ends a cell in spreadsheets that do not separate by commas: for them the quotes are text,
/// because they do not begin the cell.
const SEPARATORS: [char; 5] = [';', '\t', '|', '\n', '\r'];

/// Whether some spreadsheet ignores the character at the start of a cell: spaces, control
/// characters, and characters without width.
fn is_dropped(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a spreadsheet could run a cell with this text as a formula.
fn is_formula(words: &str) -> bool {
    let seen = words.trim_start_matches(is_dropped);
    let dropped = &words[..words.len() - seen.len()];
    // A tab or a carriage return may begin a cell of its own, whatever follows.
    seen.starts_with(FORMULA) || dropped.contains(['\t', '\r'])
}

/// Adds the line of an event.
pub(super) fn push_row(text: &mut String, row: &EventRow) {
    let event = &row.event;
    let mut line = Line { text, begun: false };
    line.value(Some(event.id));
    line.value(Some(event.time));
    line.words(Some(AgentId::as_str(&event.agent)));
    line.value(Some(event.event_type.as_str()));
    line.words(event.provider.as_deref());
    line.words(event.model.as_deref());
    line.value(event.status);
    line.value(event.latency_ms);
    line.value(event.first_byte_ms);
    line.value(event.usage.input);
    line.value(event.usage.output);
    line.value(event.usage.cached);
    line.value(event.usage.cache_write);
    line.value(event.usage.reasoning);
    line.value(event.cost.map(NanoUsd::usd));
    line.value(Some(event.estimated));
    line.words(event.conversation.as_deref());
    line.value(event.score.map(|score| score.value));
    line.value(Some(event.block_reason.is_some()));
    line.value(event.block_reason.map(BlockReason::as_str));
    line.value(Some(row.count));
    line.words(event.error.as_deref());
    line.value(event.key);
    text.push_str("\r\n");
}

/// A line under construction.
struct Line<'a> {
    text: &'a mut String,
    begun: bool,
}

impl Line<'_> {
    /// Adds a cell with a value of our own, which needs no quotes.
    fn value(&mut self, value: Option<impl Display>) {
        self.separate();
        if let Some(value) = value {
            // Writing to a string does not fail.
            let _ = write!(self.text, "{value}");
        }
    }

    /// Adds a cell with text from outside.
    fn words(&mut self, words: Option<&str>) {
        self.separate();
        let Some(words) = words else { return };
        self.text.push('"');
        if is_formula(words) {
            self.text.push('\'');
        }
        for (place, part) in words.split_inclusive(SEPARATORS).enumerate() {
            if place > 0 && is_formula(part) {
                self.text.push('\'');
            }
            self.text.push_str(&part.replace('"', "\"\""));
        }
        self.text.push('"');
    }

    fn separate(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            self.text.push(',');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_escaped() {
        let check = |words: &str, expected: &str| {
            let mut text = String::new();
            Line { text: &mut text, begun: false }.words(Some(words));
            assert_eq!(text, expected);
        };
        check("gpt-4o", "\"gpt-4o\"");
        check("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\"");
        check(" \n+1", "\"' \n'+1\"");
        check("-1", "\"'-1\"");
        check("@SUM(A1)", "\"'@SUM(A1)\"");
        check("\t=1", "\"'\t'=1\"");
        check("＝1", "\"'＝1\"");
        check("\tx", "\"'\tx\"");
        check("a \"b\", c\nd", "\"a \"\"b\"\", c\nd\"");
    }

    #[test]
    fn formulas_after_other_separators_are_escaped() {
        let check = |words: &str, expected: &str| {
            let mut text = String::new();
            Line { text: &mut text, begun: false }.words(Some(words));
            assert_eq!(text, expected);
        };
        check("gpt;=1+1", "\"gpt;'=1+1\"");
        check("gpt; \u{feff}=1;b;@x", "\"gpt;' \u{feff}=1;b;'@x\"");
        check("a\t-1|+1\n=1\r\n=2", "\"a\t'-1|'+1\n'=1\r\n'=2\"");
        check("a,=1", "\"a,=1\"");
        check("a;b|c", "\"a;b|c\"");
    }

    #[test]
    fn invisible_characters_before_a_formula_are_escaped() {
        for hidden in [
            "\0",
            "\u{b}",
            "\u{c}",
            "\u{1f}",
            "\u{7f}",
            "\u{85}",
            "\u{a0}",
            "\u{ad}",
            "\u{2003}",
            "\u{200b}",
            "\u{200d}",
            "\u{200e}",
            "\u{2028}",
            "\u{202e}",
            "\u{202f}",
            "\u{2060}",
            "\u{2066}",
            "\u{3000}",
            "\u{3164}",
            "\u{fe0f}",
            "\u{feff}",
            "\u{fffa}",
            "\u{1bca0}",
            "\u{1d173}",
            "\u{e0020}",
            " \u{feff}\0\u{a0}",
        ] {
            for sign in FORMULA {
                let words = format!("{hidden}{sign}1");
                assert!(is_formula(&words), "{words:?}");
            }
            assert!(!is_formula(&format!("{hidden}gpt-4o")), "{hidden:?}");
        }
        assert!(!is_formula("") && !is_formula("\u{feff}"));
    }
}
