//! One run under one setting: where it was stopped, by what.

use guard::Replay;
use model::{KillSwitch, Score};

use super::run::Run;

/// What became of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JudgedRun {
    /// The call that was refused, counted from 0.
    pub(crate) killed_at: Option<usize>,
    /// The score at that call; of a run that was not stopped, its highest.
    pub(crate) score: Score,
}

impl JudgedRun {
    /// The run under each of `settings`, a fresh agent each.
    pub(crate) fn under_all(run: &Run, settings: &[KillSwitch]) -> Vec<JudgedRun> {
        settings.iter().map(|kill_switch| JudgedRun::under(run, *kill_switch)).collect()
    }

    fn under(run: &Run, kill_switch: KillSwitch) -> JudgedRun {
        let mut replay = Replay::new(kill_switch);
        let mut highest = Score::default();
        for (place, call) in run.calls.iter().enumerate() {
            let judged = replay.take(call);
            if judged.is_stopped {
                return JudgedRun { killed_at: Some(place), score: judged.score };
            }
            if judged.score.value > highest.value {
                highest = judged.score;
            }
        }
        JudgedRun { killed_at: None, score: highest }
    }
}
