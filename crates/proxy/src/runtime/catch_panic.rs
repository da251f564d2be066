//! A bug in detection never fails a call: panics are caught, counted, and logged once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use model::Failures;

/// Runs the code that reads traffic, and catches its panics.
pub(crate) struct CatchPanic {
    failures: Failures,
    logged: Once,
}

impl Default for CatchPanic {
    fn default() -> Self {
        CatchPanic { failures: Failures::default(), logged: Once::new() }
    }
}

impl CatchPanic {
    /// The result of `detect`; `None` if it panicked.
    pub(crate) fn run<T>(&self, detect: impl FnOnce() -> T) -> Option<T> {
        let result = catch_unwind(AssertUnwindSafe(detect));
        if result.is_err() {
            self.failures.add();
            self.logged.call_once(|| {
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
    fn panics_are_counted_and_caught() {
        let catch_panic = CatchPanic::default();
        assert_eq!(catch_panic.run(|| 7), Some(7));
        assert_eq!(catch_panic.run(|| -> u8 { panic!("a bug in the detector") }), None);
        assert_eq!(catch_panic.run(|| -> u8 { panic!("the same bug") }), None);
        assert_eq!(catch_panic.failures().count(), 2);
    }
}
