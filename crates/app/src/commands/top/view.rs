//! How `top` looks.

use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line as TextLine, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, TableState};

use super::{Line, Snapshot};
use crate::commands::figures::count;
use crate::text;

pub(super) const HEADER: [&str; 7] = ["AGENT", "STATE", "SCORE", "REQUESTS", "ERRORS", "BLOCKED", "COST"];

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

fn state(line: &Line) -> &'static str {
    match (line.active, line.stopped) {
        (true, _) => "active",
        (false, true) => "stopped",
        (false, false) => "inactive",
    }
}

/// The screen and where one looks at it.
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

    /// Says what is wrong; what was last known stays.
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
            Layout::vertical([Constraint::Length(2), Constraint::Min(1), Constraint::Length(1)]).areas(frame.area());
        frame.render_widget(Paragraph::new(self.summary()), top);
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
        let rows = self.snapshot.agents.iter().map(|line| {
            let cells = cells(line).into_iter().map(|cell| Cell::from(text::printable(&cell)));
            Row::new(cells.collect::<Vec<_>>()).style(self.style(line))
        });
        let widths = [
            Constraint::Fill(1),
            Constraint::Length(8),
            Constraint::Length(13),
            Constraint::Length(10),
            Constraint::Length(8),
            Constraint::Length(8),
            Constraint::Length(24),
        ];
        let header = Row::new(HEADER).style(Style::new().add_modifier(Modifier::BOLD));
        let marked = Style::new().add_modifier(Modifier::REVERSED);
        let table = Table::new(rows.collect::<Vec<_>>(), widths).header(header).row_highlight_style(marked);
        frame.render_stateful_widget(table, area, &mut self.place);
    }

    /// Red for what was stopped, yellow for what is on its way there.
    fn style(&self, line: &Line) -> Style {
        let color = match line.active {
            false => Color::Red,
            true if line.score > line.threshold / 2.0 => Color::Yellow,
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
            sums: Sums { requests: 1234, cost_usd: 2.5, ..Sums::default() },
        };
        Snapshot {
            total: Sums { requests: 2468, cost_usd: 5.0, ..Sums::default() },
            agents: vec![line("looper", false, 13.0), line("worker", true, 1.0)],
        }
    }

    fn shown(screen: &mut Screen) -> String {
        let mut terminal = Terminal::new(TestBackend::new(100, 6)).unwrap();
        terminal.draw(|frame| screen.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer().clone();
        let lines =
            buffer.content().chunks(100).map(|cells| cells.iter().map(|cell| cell.symbol()).collect::<String>());
        lines.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_screen_has_a_line_for_every_agent() {
        let mut screen = Screen::new(snapshot(), "1h".to_owned());
        let text = shown(&mut screen);
        assert!(
            text.starts_with("AgentGazer, last 1h: 2,468 requests, 0 errors, 0 blocked, $5.00; 2 agents, 1 stopped")
        );
        assert!(text.contains("looper") && text.contains("stopped  13.0/10.0"), "{text}");
        assert!(text.contains("worker") && text.contains("active   1.0/10.0      1,234"), "{text}");
        assert!(text.ends_with("q quits, ↑ ↓ move"), "{text}");
    }

    #[test]
    fn trouble_is_said_and_what_was_known_stays() {
        let mut screen = Screen::new(snapshot(), "1h".to_owned());
        screen.complain("no server answers\u{1b}[2J");
        let text = shown(&mut screen);
        assert!(text.contains("worker") && text.ends_with("no server answers[2J"), "{text}");
    }
}
