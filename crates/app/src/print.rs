//! Output: tables for people, JSON for programs.

use std::io::Write;

use comfy_table::{Table, presets};
use serde_json::value::RawValue;

use crate::exit::Failure;
use crate::text;

/// Styles. The output stream removes them where they are not wanted (no terminal, `NO_COLOR`).
pub(crate) const BOLD: &str = "\x1b[1m";
pub(crate) const DIM: &str = "\x1b[2m";
pub(crate) const RED: &str = "\x1b[31m";
pub(crate) const GREEN: &str = "\x1b[32m";
pub(crate) const YELLOW: &str = "\x1b[33m";
pub(crate) const RESET: &str = "\x1b[0m";

/// Prints bytes unchanged.
pub(crate) fn raw(bytes: &[u8]) -> Result<(), Failure> {
    Ok(std::io::stdout().write_all(bytes)?)
}

/// Prints one line.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    Ok(writeln!(anstream::stdout(), "{text}")?)
}

/// Prints the server's JSON, with dangerous characters escaped.
pub(crate) fn json(json: &str) -> Result<(), Failure> {
    line(&text::printable_json(json.trim_end()))
}

/// Prints a whole list in the shape of one page.
pub(crate) fn json_list(items: &[Box<RawValue>]) -> Result<(), Failure> {
    json(&format!(r#"{{"items":{},"next_cursor":null}}"#, json_array(items)))
}

/// Raw items as an array.
pub(crate) fn json_array(items: &[Box<RawValue>]) -> String {
    let items: Vec<&str> = items.iter().map(|item| item.get()).collect();
    format!("[{}]", items.join(","))
}

/// The number of characters on a line: the width of the terminal, or a large number without one.
pub(crate) fn width() -> usize {
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    terminal.map_or(120, |(terminal_size::Width(columns), _)| usize::from(columns))
}

/// A time of the API for display: to the second, without `T` and `Z`. Column headers say UTC.
pub(crate) fn time(rfc3339: &str) -> String {
    rfc3339.get(..19).map_or_else(|| rfc3339.to_owned(), |time| time.replace('T', " "))
}

/// Prints rows under a header, or `nothing` if there are none. Cells are made printable.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>, nothing: &str) -> Result<(), Failure> {
    if rows.is_empty() {
        return line(nothing);
    }
    line(&table_text(header, rows))
}

fn table_text(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for row in rows {
        table.add_row(row.iter().map(|cell| text::printable(cell)));
    }
    let text = table.to_string();
    // The space before the first column is not needed.
    let mut lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    let header = lines.next().unwrap_or_default();
    let rows: String = lines.map(|line| format!("\n{line}")).collect();
    format!("{BOLD}{header}{RESET}{rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_text() {
        let rows = vec![vec!["a\u{1b}[31m".to_owned(), "on".to_owned()], vec!["longer".to_owned(), "off".to_owned()]];
        let table = table_text(&["AGENT", "STATE"], rows);
        assert_eq!(anstream::adapter::strip_str(&table).to_string(), "AGENT   STATE\na[31m   on\nlonger  off");
    }

    #[test]
    fn a_time_is_shown_to_the_second() {
        assert_eq!(time("2026-01-02T03:04:05.678Z"), "2026-01-02 03:04:05");
        assert_eq!(time("later"), "later");
    }
}
