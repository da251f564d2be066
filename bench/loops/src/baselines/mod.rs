//! Detectors that others describe, written from their public descriptions, for comparison.

mod gemini_cli;
mod identical_calls;
mod literal;
mod open_hands;
mod simhash;

use crate::reading::{Answered, Asked, Line};

/// A detector that sees calls one by one.
pub(crate) trait Detector {
    /// Sees a request before it is sent. Returns whether it would be stopped.
    fn stops(&mut self, asked: &Asked) -> bool;

    /// Sees what the request that was just sent got.
    fn settle(&mut self, asked: &Asked, answered: Option<&Answered>);
}

/// A baseline by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Baseline {
    Literal,
    IdenticalCalls(usize),
    OpenHands,
    GeminiCli,
}

impl Baseline {
    pub(crate) const ALL: [Baseline; 5] = [
        Baseline::Literal,
        Baseline::IdenticalCalls(3),
        Baseline::IdenticalCalls(5),
        Baseline::OpenHands,
        Baseline::GeminiCli,
    ];

    pub(crate) fn name(self) -> String {
        match self {
            Baseline::Literal => "literal".to_owned(),
            Baseline::IdenticalCalls(count) => format!("identical-{count}"),
            Baseline::OpenHands => "openhands".to_owned(),
            Baseline::GeminiCli => "gemini-cli".to_owned(),
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Baseline> {
        Baseline::ALL.into_iter().find(|baseline| baseline.name() == name)
    }

    fn detector(self) -> Box<dyn Detector> {
        match self {
            Baseline::Literal => Box::new(literal::Literal::default()),
            Baseline::IdenticalCalls(count) => Box::new(identical_calls::IdenticalCalls::new(count)),
            Baseline::OpenHands => Box::new(open_hands::OpenHands::default()),
            Baseline::GeminiCli => Box::new(gemini_cli::GeminiCli::default()),
        }
    }

    /// The call of a run at which it would be stopped, counted from 0. The calls after it are still
    /// processed, so that the time per call is that of whole runs.
    pub(crate) fn killed_at(self, line: &Line<'_>) -> serde_json::Result<Option<usize>> {
        let mut detector = self.detector();
        let mut killed_at = None;
        for (place, call) in line.calls.iter().enumerate() {
            let asked = call.asked()?;
            if detector.stops(&asked) {
                killed_at.get_or_insert(place);
            }
            detector.settle(&asked, call.answered().as_ref());
        }
        Ok(killed_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes;

    fn killed_at(baseline: Baseline, shape: &str) -> Vec<Option<usize>> {
        let shapes = shapes::all();
        let shape = shapes.iter().find(|known| known.name == shape).unwrap();
        shape.lines(0).map(|text| baseline.killed_at(&Line::read(&text).unwrap()).unwrap()).collect()
    }

    #[test]
    fn names_are_read_back() {
        for baseline in Baseline::ALL {
            assert_eq!(Baseline::parse(&baseline.name()), Some(baseline));
        }
        assert_eq!(Baseline::parse("nothing"), None);
    }

    #[test]
    fn every_baseline_stops_the_plainest_loop() {
        for baseline in Baseline::ALL {
            // Not in every form: the headers that Codex writes above results hide the loop from
            // some.
            assert!(killed_at(baseline, "same_call_same_result").iter().any(Option::is_some), "{baseline:?}");
        }
    }

    #[test]
    fn baselines_have_the_blind_spots_that_are_reported() {
        let none = |baseline, shape: &str| assert!(killed_at(baseline, shape).iter().all(Option::is_none), "{shape}");
        none(Baseline::IdenticalCalls(3), "cycle_2");
        none(Baseline::GeminiCli, "cycle_3");
        none(Baseline::OpenHands, "cycle_3");
        none(Baseline::OpenHands, "edit_test_pytest");
    }

    #[test]
    fn the_literal_formula_stops_healthy_work() {
        assert!(killed_at(Baseline::Literal, "explore_many_files").iter().all(Option::is_some));
    }
}
