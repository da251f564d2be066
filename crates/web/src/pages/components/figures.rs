//! Figures of a day and of the hours behind it: today against yesterday, and charts over time.

use axum::http::HeaderMap;
use model::{AgentId, NanoUsd, Timestamp};
use store::{Figures, Period, Totals};

use super::chart::{Chart, Series};
use crate::app::App;
use crate::gate::cookie;
use crate::pages::link::link;
use crate::pages::number::{Count, Money, grouped};
use crate::pages::words::labels::{self, figure};
use crate::pages::words::units::{duration, unpriced_left_out};
use crate::problem::Problem;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const CHART_HOURS: u32 = 24;

/// The offset of the viewer's clock from UTC, sent by their browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pages) struct ViewerZone {
    offset_ms: i64,
}

impl ViewerZone {
    pub(in crate::pages) fn of(headers: &HeaderMap) -> ViewerZone {
        let minutes = cookie(headers, "agentgazer_offset").and_then(|minutes| minutes.parse().ok()).unwrap_or(0);
        ViewerZone::from_minutes(minutes)
    }

    pub(in crate::pages) fn from_minutes(minutes: i64) -> ViewerZone {
        ViewerZone { offset_ms: minutes.clamp(-14 * 60, 14 * 60) * 60 * 1000 }
    }

    /// The start of a day such as `2026-11-18` in this zone.
    pub(in crate::pages) fn day(self, day: &str) -> Option<Timestamp> {
        let start = Timestamp::parse(&format!("{}T00:00:00Z", day.trim()))?;
        Some(Timestamp::from_millis(start.as_millis() - self.offset_ms))
    }
}

/// The viewer's day: the start of today in their zone, which their browser sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pages) struct Day {
    start: i64,
    /// The same moment on the viewer's clock.
    local_start: i64,
    now: Timestamp,
}

impl Day {
    pub(in crate::pages) fn new(headers: &HeaderMap, now: Timestamp) -> Day {
        let ViewerZone { offset_ms } = ViewerZone::of(headers);
        let local_start = (now.as_millis() + offset_ms).div_euclid(DAY_MS) * DAY_MS;
        Day { start: local_start - offset_ms, local_start, now }
    }

    /// The date as a field for days takes it: `2026-11-18`.
    pub(in crate::pages) fn date(self) -> String {
        Timestamp::from_millis(self.local_start).to_string().get(..10).unwrap_or_default().to_owned()
    }

    pub(in crate::pages) fn today(self) -> Period {
        Period::between(Timestamp::from_millis(self.start), self.now, self.now)
    }

    fn yesterday(self) -> Period {
        let (from, to) = (self.start - DAY_MS, self.start - 1);
        Period::between(Timestamp::from_millis(from), Timestamp::from_millis(to), self.now)
    }
}

/// One figure of today, with that of yesterday.
pub(in crate::pages) struct Compared {
    pub(in crate::pages) name: &'static str,
    pub(in crate::pages) today: String,
    pub(in crate::pages) exact: String,
    pub(in crate::pages) yesterday: String,
    pub(in crate::pages) is_alarming: bool,
    /// The list of the counted items.
    pub(in crate::pages) href: String,
}

impl Compared {
    /// The part in large type: `$9.79` of `$9.79 + unpriced`.
    pub(in crate::pages) fn number(&self) -> &str {
        self.today.split_once(" + ").map_or(&self.today, |(number, _)| number)
    }

    /// The part in small type behind it.
    pub(in crate::pages) fn unit(&self) -> Option<&str> {
        self.today.split_at(self.number().len()).1.strip_prefix(' ')
    }
}

/// Calls, cost, errors and kills of today against yesterday.
pub(in crate::pages) async fn today(app: &App, day: Day) -> Result<[Compared; 4], Problem> {
    let store = &app.web().store;
    let (today, yesterday) = (store.total(None, day.today()).await?, store.total(None, day.yesterday()).await?);
    let kills = |period: Period| store.incident_count(period.from(), period.to());
    let requests =
        |show: Option<&str>| link("/requests", &[("show", show.map(str::to_owned)), ("from", Some(day.date()))]);
    let counted = |name, today, yesterday, href| counts((name, href), today, yesterday);
    let incidents = counted(
        figure::INCIDENTS_TODAY,
        kills(day.today()).await?,
        kills(day.yesterday()).await?,
        "/incidents".to_owned(),
    );
    Ok([
        counted(figure::CALLS_TODAY, today.requests, yesterday.requests, requests(None)),
        money(figure::COST_TODAY, &today, &yesterday),
        counted(figure::ERRORS_TODAY, today.errors, yesterday.errors, requests(Some("failed"))),
        Compared { is_alarming: incidents.exact != "0", ..incidents },
    ])
}

fn counts((name, href): (&'static str, String), today: u64, yesterday: u64) -> Compared {
    let (today, yesterday) = (Count::from(today), Count::from(yesterday));
    Compared { name, is_alarming: false, today: today.short, exact: today.exact, yesterday: yesterday.short, href }
}

fn money(name: &'static str, today: &Totals, yesterday: &Totals) -> Compared {
    let (today, yesterday) = (Money::spent(today), Money::spent(yesterday));
    let href = "/costs".to_owned();
    Compared { name, today: today.short, exact: today.exact, yesterday: yesterday.short, is_alarming: false, href }
}

/// Calls, cost, failures, refusals and latency of the last 24 hours, of one agent or of all.
pub(in crate::pages) async fn charts(app: &App, agent: Option<&AgentId>) -> Result<Vec<Chart>, Problem> {
    let period = Period::last_hours(CHART_HOURS, app.web().clock.now());
    let figures = app.web().store.figures(agent, period).await?;
    Ok(vec![
        calls_chart(&figures),
        cost_chart(&figures),
        count_chart(&figures, figure::ERRORS, |totals| totals.errors),
        count_chart(&figures, figure::REFUSED, |totals| totals.blocked),
        latency_chart(&figures, figure::MEDIAN_LATENCY, |totals| totals.latency.percentile(0.5)),
        latency_chart(&figures, figure::SLOWEST_LATENCY, |totals| totals.latency.percentile(0.95)),
    ])
}

/// The number of calls over time.
pub(in crate::pages) fn calls_chart(figures: &Figures) -> Chart {
    count_chart(figures, figure::CALLS, |totals| totals.requests)
}

/// A number over time.
fn count_chart(figures: &Figures, name: &'static str, count: fn(&Totals) -> u64) -> Chart {
    let write = |value: f64| grouped(value.round() as u64);
    let counts = series(figures, (name, name), |totals| count(totals) as f64, write);
    // The middle line needs a whole number of calls.
    Series { least_top: 2.0, ..counts }.chart()
}

/// How long calls took over time, by a percentile. Hours without calls have none.
fn latency_chart(figures: &Figures, name: &'static str, millis: fn(&Totals) -> Option<u64>) -> Chart {
    let write = |millis: f64| duration(millis.round() as u64);
    let latency = series(figures, (name, figure::TOOK), |totals| millis(totals).unwrap_or(0) as f64, write);
    // The middle line needs a whole number of milliseconds.
    let chart = Series { adds_up: false, least_top: 2.0, ..latency }.chart();
    let has_calls = figures.series.iter().any(|(_, totals)| millis(totals).is_some());
    if has_calls { chart } else { Chart { nothing: Some(labels::NO_CALLS.to_owned()), ..chart } }
}

/// The spending over time, and how many calls it leaves out.
pub(in crate::pages) fn cost_chart(figures: &Figures) -> Chart {
    let chart = series(figures, (figure::COST, figure::DOLLARS), |totals| totals.cost.usd(), axis_money).chart();
    let unpriced: u64 = figures.series.iter().map(|(_, totals)| totals.unpriced).sum();
    Chart { left_out: (unpriced > 0).then(|| unpriced_left_out(unpriced)), ..chart }
}

/// Money on an axis: small amounts have as many digits as tell them apart.
fn axis_money(usd: f64) -> String {
    if usd >= 0.01 || usd <= 0.0 {
        return Money::from(NanoUsd::from_usd(usd).unwrap_or_default()).short;
    }
    let digits = format!("{usd:.5}");
    format!("${}", digits.trim_end_matches('0'))
}

fn series(
    figures: &Figures,
    (title, unit): (&str, &'static str),
    value: impl Fn(&Totals) -> f64,
    write: fn(f64) -> String,
) -> Series {
    let resolution = figures.period.resolution();
    let points = figures.series.iter().map(|(at, totals)| (*at, value(totals))).collect();
    Series {
        title: labels::chart_title(title, resolution),
        unit,
        resolution,
        points,
        write,
        least_top: 0.0,
        adds_up: true,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use axum::http::header::COOKIE;

    use super::*;

    #[test]
    fn small_amounts_stay_distinguishable() {
        for (usd, expected) in [(0.0, "$0"), (0.002, "$0.002"), (0.00005, "$0.00005"), (0.5, "$0.50"), (20.0, "$20.00")]
        {
            assert_eq!(axis_money(usd), expected);
        }
    }

    #[test]
    fn amounts_without_a_price_are_small_print() {
        for (today, number, unit) in
            [("$9.79 + unpriced", "$9.79", Some("+ unpriced")), ("< $0.01", "< $0.01", None), ("12", "12", None)]
        {
            let (name, exact, yesterday) = ("", String::new(), String::new());
            let figure =
                Compared { name, today: today.to_owned(), exact, yesterday, is_alarming: false, href: String::new() };
            assert_eq!((figure.number(), figure.unit()), (number, unit));
        }
    }

    #[test]
    fn the_day_begins_where_the_viewer_is() {
        let now = Timestamp::parse("2026-03-10T01:20:00Z").unwrap();
        let check = |cookie: &str, from: &str| {
            let headers = HeaderMap::from_iter([(COOKIE, cookie.parse().unwrap())]);
            assert_eq!(Day::new(&headers, now).today().from(), Timestamp::parse(from).unwrap(), "{cookie}");
        };
        check("a=b", "2026-03-10T00:00:00Z");
        check("agentgazer_offset=60", "2026-03-09T23:00:00Z");
        check("agentgazer_offset=-480", "2026-03-09T08:00:00Z");
        check("agentgazer_offset=junk", "2026-03-10T00:00:00Z");
    }
}
