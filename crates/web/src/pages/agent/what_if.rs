//! The effect that other settings would have had: the real detector judges the recorded
//! fingerprints of this agent again.

use guard::Judged;
use model::{Fingerprint, KillSwitch, KillSwitchChange, Timestamp};
use serde::Deserialize;
use store::ExemptionRow;

use crate::api::agents::AgentView;
use crate::app::App;
use crate::pages::number::{Count, Moment};
use crate::pages::words::labels::scored;
use crate::problem::Problem;

/// How many of the newest calls are judged, and how many of them are drawn.
const CALLS: u32 = 500;
const DRAWN: usize = 160;
/// The width of all bars together, the least and the greatest width of one bar, and their height.
/// The threshold is at half the height.
const WIDTH: usize = 960;
const NARROWEST: usize = 6;
const WIDEST: usize = 20;
const HEIGHT: f64 = 60.0;

/// The settings to try. An absent field keeps the current setting.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhatIfQuery {
    window: Option<u64>,
    threshold: Option<f64>,
}

/// The answer, ready to be drawn.
pub(super) struct WhatIf {
    pub(super) window_size: u16,
    pub(super) threshold: f64,
    /// Whether these settings differ from those of the agent.
    pub(super) differs: bool,
    pub(super) calls: Count,
    pub(super) stops: usize,
    pub(super) first: Option<Moment>,
    pub(super) bars: Vec<Bar>,
    pub(super) width: usize,
    pub(super) bar_width: usize,
    pub(super) most_window: u16,
    pub(super) most_threshold: f64,
}

/// One call.
pub(super) struct Bar {
    pub(super) x: usize,
    pub(super) y: String,
    pub(super) height: String,
    pub(super) is_stopped: bool,
    /// When it came, in UTC.
    pub(super) at: String,
    pub(super) title: String,
}

/// Judges the newest calls of the agent's epoch by the requested settings, without its exempt
/// calls. Returns the agent's exemptions as well.
pub(super) async fn read(
    app: &App,
    agent: &AgentView,
    query: WhatIfQuery,
) -> Result<(WhatIf, Vec<ExemptionRow>), Problem> {
    let current: KillSwitch = agent.kill_switch.into();
    let change = KillSwitchChange { window_size: query.window, threshold: query.threshold, ..Default::default() };
    let tried = change.apply(current)?;
    let (store, now) = (&app.web().store, app.web().clock.now());
    let (prints, exemptions) =
        tokio::try_join!(store.fingerprints(&agent.agent_id, CALLS), store.exemptions(&agent.agent_id, now))?;
    let judged = guard::what_if(&prints, tried, exemptions.iter().map(|row| row.exemption).collect());
    Ok((answer(&prints, &judged, (current, tried), now), exemptions))
}

fn answer(
    prints: &[Fingerprint],
    judged: &[Judged],
    (current, tried): (KillSwitch, KillSwitch),
    now: Timestamp,
) -> WhatIf {
    let first = judged.iter().position(|call| call.is_stopped);
    let skipped = judged.len().saturating_sub(DRAWN);
    let step = (WIDTH / judged.len().clamp(1, DRAWN)).clamp(NARROWEST, WIDEST);
    let bar = |(index, (print, call)): (usize, (&Fingerprint, &Judged))| Bar {
        x: step * (index + 1),
        ..bar(print, call, tried.threshold)
    };
    let bars: Vec<Bar> = prints.iter().zip(judged).skip(skipped).enumerate().map(bar).collect();
    WhatIf {
        window_size: tried.window_size,
        threshold: tried.threshold,
        differs: tried != current,
        calls: (judged.len() as u64).into(),
        stops: episodes(judged),
        first: first.map(|index| Moment::new(prints[index].time, now)),
        width: (bars.len() + 2) * step,
        bar_width: step - 2,
        bars,
        most_window: current.window_size.max(100),
        most_threshold: current.threshold.max(40.0),
    }
}

/// How often the score rose above the threshold. Further calls above it right afterwards belong to
/// the same loop.
fn episodes(judged: &[Judged]) -> usize {
    let starts = judged.iter().enumerate();
    starts.filter(|(index, call)| call.is_stopped && (*index == 0 || !judged[index - 1].is_stopped)).count()
}

/// The bar of a call, without its position.
fn bar(print: &Fingerprint, call: &Judged, threshold: f64) -> Bar {
    let share = (call.score.value / threshold / 2.0).clamp(0.0, 1.0);
    // A call without a score is drawn as a dot.
    let height = (share * HEIGHT).max(2.0);
    Bar {
        x: 0,
        y: format!("{:.1}", HEIGHT - height),
        height: format!("{height:.1}"),
        is_stopped: call.is_stopped,
        at: print.time.to_string(),
        title: scored(print.time, call.score.value),
    }
}

#[cfg(test)]
mod tests {
    use model::Score;

    use super::*;

    #[test]
    fn consecutive_calls_above_the_threshold_are_one_loop() {
        let judged = |stops: &str| -> Vec<Judged> {
            stops.chars().map(|call| Judged { score: Score::default(), is_stopped: call == 'x' }).collect()
        };
        for (calls, expected) in [("", 0), ("...", 0), ("x", 1), ("..xx.x", 2), ("xx.xx", 2)] {
            assert_eq!(episodes(&judged(calls)), expected, "{calls}");
        }
    }
}
