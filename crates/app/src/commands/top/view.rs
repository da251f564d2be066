//! The screen of `top`.

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line as TextLine, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, TableState, Wrap};

use super::{Line, Snapshot};
use crate::commands::figures::count;
use crate::text;

pub(super) const HEADER: [&str; 7] = ["AGENT", "STATE", "SCORE", "REQUESTS", "ERRORS", "BLOCKED", "COST"];

/// The index of the score in the header.
const SCORE: usize = 2;
/// The width of a bar, and the terminal width from which on it is shown.
const BAR: usize = 21;
const WIDE: u16 = 100;

/// The rows of the table.
pub(super) fn rows(snapshot: &Snapshot) -> Vec<Vec<String>> {
    snapshot.agents.iter().map(cells).collect()
}

fn cells(line: &Line) -> Vec<String> {
    let sums = &line.sums;
    vec![
        line.agent.clone(),
        state(line).to_owned(),
        format!("{:.1}/{:.1}", line.score, line.threshold),
        count(sums.requests),
        count(sums.errors),
        count(sums.blocked),
        sums.cost(),
    ]
}

/// The cells of a row with the bar before its score; numbers to the right.
fn with_bar(row: &[String], bar: String) -> Vec<Cell<'static>> {
    let aligned = |(column, cell): (usize, &String)| {
        let text = TextLine::from(text::printable(cell));
        Cell::from(if column < SCORE { text } else { text.right_aligned() })
    };
    let mut cells: Vec<Cell<'static>> = row.iter().enumerate().map(aligned).collect();
    cells.insert(SCORE, Cell::from(bar));
    cells
}

/// The score as a bar: the threshold in the middle, twice the threshold at the end.
fn bar(line: &Line) -> String {
    let filled = (line.score / line.threshold * (BAR / 2) as f64).round().clamp(0.0, BAR as f64) as usize;
    let cell = |place: usize| match place {
        place if place == BAR / 2 => '│',
        place if place < filled => '█',
        _ => '░',
    };
    (0..BAR).map(cell).collect()
}

fn state(line: &Line) -> &'static str {
    match (line.active, line.stopped) {
        (true, _) => "active",
        (false, true) => "stopped",
        (false, false) => "inactive",
    }
}

/// The screen and its scroll position.
pub(super) struct Screen {
    snapshot: Snapshot,
    since: String,
    complaint: Option<String>,
    place: TableState,
    colors: bool,
}

impl Screen {
    pub(super) fn new(snapshot: Snapshot, since: String) -> Screen {
        let colors = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Screen { snapshot, since, complaint: None, place: TableState::default(), colors }
    }

    pub(super) fn show(&mut self, snapshot: Snapshot) {
        self.snapshot = snapshot;
        self.complaint = None;
    }

    /// Shows an error and keeps the last data.
    pub(super) fn complain(&mut self, words: &str) {
        self.complaint = Some(text::printable(words));
    }

    pub(super) fn move_by(&mut self, key: KeyCode) {
        match key {
            KeyCode::Down | KeyCode::Char('j') => self.place.select_next(),
            KeyCode::Up | KeyCode::Char('k') => self.place.select_previous(),
            KeyCode::Home => self.place.select_first(),
            KeyCode::End => self.place.select_last(),
            _ => {}
        }
    }

    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        let [top, middle, bottom] =
            Layout::vertical([Constraint::Length(3), Constraint::Min(1), Constraint::Length(1)]).areas(frame.area());
        frame.render_widget(Paragraph::new(self.summary()).wrap(Wrap { trim: true }), top);
        self.draw_table(frame, middle);
        frame.render_widget(Paragraph::new(self.foot()), bottom);
    }

    fn summary(&self) -> TextLine<'_> {
        let total = &self.snapshot.total;
        let stopped = self.snapshot.agents.iter().filter(|line| line.stopped).count();
        let words = format!(
            "AgentGazer, last {}: {} requests, {} errors, {} blocked, {}; {} agents, {stopped} stopped",
            self.since,
            count(total.requests),
            count(total.errors),
            count(total.blocked),
            total.cost(),
            self.snapshot.agents.len(),
        );
        TextLine::from(Span::styled(words, Style::new().add_modifier(Modifier::BOLD)))
    }

    fn draw_table(&mut self, frame: &mut Frame<'_>, area: Rect) {
        if self.snapshot.agents.is_empty() {
            return frame.render_widget(Paragraph::new("No agents yet: an agent appears with its first call."), area);
        }
        // The widest row decides the width of a column; names get the rest.
        let rows = rows(&self.snapshot);
        let widest = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.chain([HEADER[column].len()]).max().unwrap_or_default() as u16
        };
        let mut widths: Vec<Constraint> = (1..HEADER.len()).map(|column| Constraint::Length(widest(column))).collect();
        widths.insert(0, Constraint::Fill(1));
        widths.insert(SCORE, Constraint::Max(if area.width >= WIDE { BAR as u16 } else { 0 }));
        let lines = self.snapshot.agents.iter().zip(&rows);
        let lines = lines.map(|(line, row)| Row::new(with_bar(row, bar(line))).style(self.style(line)));
        let header = HEADER.map(str::to_owned);
        let header = Row::new(with_bar(&header, String::new())).style(Style::new().add_modifier(Modifier::BOLD));
        let marked = Style::new().add_modifier(Modifier::REVERSED);
        let table = Table::new(lines.collect::<Vec<_>>(), widths).header(header).row_highlight_style(marked);
        frame.render_stateful_widget(table, area, &mut self.place);
    }

    /// Red for agents that are stopped or loop, yellow for those close to it, grey for those that a
    /// person switched off.
    fn style(&self, line: &Line) -> Style {
        let color = match line.active {
            false if line.stopped => Color::Red,
            false => Color::DarkGray,
            true if line.score > line.threshold => Color::Red,
            true if line.score >= line.threshold * 0.8 => Color::Yellow,
            true => return Style::new(),
        };
        if self.colors { Style::new().fg(color) } else { Style::new().add_modifier(Modifier::BOLD) }
    }

    fn foot(&self) -> &str {
        self.complaint.as_deref().unwrap_or("q quits, ↑ ↓ move")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::commands::figures::Sums;

    fn snapshot() -> Snapshot {
        let line = |agent: &str, active: bool, score: f64| Line {
            agent: agent.to_owned(),
            active,
            stopped: !active,
            score,
            threshold: 10.0,
            is_failing: false,
            sums: Sums { requests: 1234, cost_usd: 2.5, ..Sums::default() },
        };
        Snapshot {
            total: Sums { requests: 2468, cost_usd: 5.0, ..Sums::default() },
            agents: vec![line("looper", false, 13.0), line("worker", true, 1.0)],
        }
    }

    fn shown(screen: &mut Screen) -> String {
        shown_at(screen, 100)
    }

    fn shown_at(screen: &mut Screen, width: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, 7)).unwrap();
        terminal.draw(|frame| screen.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer().clone();
        let lines = buffer
            .content()
            .chunks(usize::from(width))
            .map(|cells| cells.iter().map(|cell| cell.symbol()).collect::<String>());
        lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_screen_has_a_line_for_every_agent() {
        let mut screen = Screen::new(snapshot(), "1h".to_owned());
        let text = shown(&mut screen);
        assert!(
            text.starts_with("AgentGazer, last 1h: 2,468 requests, 0 errors, 0 blocked, $5.00; 2 agents, 1 stopped")
        );
        assert!(text.contains("looper") && text.contains("stopped ██████████│██░░░░░░░░ 13.0/10.0"), "{text}");
        assert!(text.contains("worker") && text.contains("active  █░░░░░░░░░│░░░░░░░░░░  1.0/10.0    1,234"), "{text}");
        assert!(text.ends_with("q quits, ↑ ↓ move"), "{text}");
    }

    #[test]
    fn a_narrow_terminal_shows_names_and_the_whole_summary() {
        let mut snapshot = snapshot();
        snapshot.agents[0].agent = "import-fixer-for-customers".to_owned();
        snapshot.agents[0].sums.unpriced_requests = 7;
        let text = shown_at(&mut Screen::new(snapshot, "24h".to_owned()), 80);
        assert!(text.contains("import-fixer"), "{text}");
        assert!(text.contains("2 agents, 1\nstopped") && text.contains("$2.50 + 7 unpriced"), "{text}");
    }

    #[test]
    fn top_without_agents_explains_how_they_appear() {
        assert!(shown(&mut Screen::new(Snapshot::default(), "1h".to_owned())).contains("No agents yet"));
    }

    #[test]
    fn top_shows_errors_and_keeps_the_last_data() {
        let mut screen = Screen::new(snapshot(), "1h".to_owned());
        screen.complain("no server answers\u{1b}[2J");
        let text = shown(&mut screen);
        assert!(text.contains("worker") && text.ends_with("no server answers[2J"), "{text}");
    }
}
