//! Output: tables for people, JSON for programs.

use std::io::{IsTerminal, Write};

use comfy_table::{Table, presets};
use serde_json::value::RawValue;

use crate::exit::Failure;
use crate::text;

/// Styles. They are written as they are; the stream drops them where they are not wanted (no terminal, `NO_COLOR`).
pub(crate) const BOLD: &str = "\x1b[1m";
pub(crate) const DIM: &str = "\x1b[2m";
pub(crate) const RED: &str = "\x1b[31m";
pub(crate) const GREEN: &str = "\x1b[32m";
pub(crate) const YELLOW: &str = "\x1b[33m";
pub(crate) const RESET: &str = "\x1b[0m";

/// Bytes as they are.
pub(crate) fn raw(bytes: &[u8]) -> Result<(), Failure> {
    Ok(std::io::stdout().write_all(bytes)?)
}

/// One line.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    Ok(writeln!(anstream::stdout(), "{text}")?)
}

/// JSON as the server wrote it, harmless on a terminal.
pub(crate) fn json(json: &str) -> Result<(), Failure> {
    line(&text::printable_json(json.trim_end()))
}

/// A whole list, in the shape of one page.
pub(crate) fn json_list(items: &[Box<RawValue>]) -> Result<(), Failure> {
    json(&format!(r#"{{"items":{},"next_cursor":null}}"#, json_array(items)))
}

/// Items as the server wrote them, as an array.
pub(crate) fn json_array(items: &[Box<RawValue>]) -> String {
    let items: Vec<&str> = items.iter().map(|item| item.get()).collect();
    format!("[{}]", items.join(","))
}

/// Rows under a header; `nothing` if there are none. Cells are made printable.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>, nothing: &str) -> Result<(), Failure> {
    if rows.is_empty() {
        return line(nothing);
    }
    line(&table_text(header, rows, std::io::stdout().is_terminal()))
}

fn table_text(header: &[&str], rows: Vec<Vec<String>>, ruled: bool) -> String {
    let mut table = Table::new();
    table.load_style(if ruled { presets::UTF8_HORIZONTAL_ONLY } else { presets::NOTHING });
    table.set_header(header);
    for row in rows {
        table.add_row(row.iter().map(|cell| text::printable(cell)));
    }
    let text = table.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_a_table_is_plain_text() {
        let rows = vec![vec!["a\u{1b}[31m".to_owned(), "on".to_owned()], vec!["longer".to_owned(), "off".to_owned()]];
        assert_eq!(table_text(&["AGENT", "STATE"], rows, false), " AGENT   STATE\n a[31m   on\n longer  off");
    }
}
