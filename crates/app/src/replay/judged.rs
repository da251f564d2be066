//! The result of one run under one setting: where it was stopped, and its score.

use guard::Replay;
use model::{KillSwitch, Score};

use super::run::Run;

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct JudgedRun {
    /// The refused call, counted from 0.
    pub(crate) killed_at: Option<usize>,
    /// The score at that call; for a run that was not stopped, the highest.
    pub(crate) score: Score,
}

impl JudgedRun {
    /// Judges the run under each of `settings`, each time as a new agent.
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
