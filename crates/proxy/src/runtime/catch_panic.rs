//! Detection is never the cause of a failure: what panics in it is caught, counted, and said once in the log.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use model::Failures;

/// Stands between the traffic and the code that reads it.
pub(crate) struct Shield {
    failures: Failures,
    said: Once,
}

impl Default for Shield {
    fn default() -> Self {
        Shield { failures: Failures::default(), said: Once::new() }
    }
}

impl Shield {
    /// What `detect` gives; `None` if it panicked.
    pub(crate) fn run<T>(&self, detect: impl FnOnce() -> T) -> Option<T> {
        let result = catch_unwind(AssertUnwindSafe(detect));
        if result.is_err() {
            self.failures.add();
            self.said.call_once(|| {
                tracing::error!("a bug in detection: the call goes on without it; further failures are only counted");
            });
        }
        result.ok()
    }

    pub(crate) fn failures(&self) -> Failures {
        self.failures.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_detection_is_counted_and_goes_no_further() {
        let shield = Shield::default();
        assert_eq!(shield.run(|| 7), Some(7));
        assert_eq!(shield.run(|| -> u8 { panic!("a bug in the detector") }), None);
        assert_eq!(shield.run(|| -> u8 { panic!("the same bug") }), None);
        assert_eq!(shield.failures().count(), 2);
    }
}
