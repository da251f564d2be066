//! Keeps budgets from beginning anew because the machine's clock was set, and logs that it was.

use guard::Policies;
use model::{Clock, ClockJump, ClockWatch};
use parking_lot::Mutex;

/// Watches the clock by which budgets begin anew.
pub(crate) struct BudgetClock(Mutex<ClockWatch>);

impl BudgetClock {
    pub(crate) fn new(clock: Clock) -> BudgetClock {
        BudgetClock(Mutex::new(ClockWatch::new(clock)))
    }

    /// Moves the periods of all budgets with the clock, if it was set.
    pub(crate) fn check(&self, policies: &Policies) {
        let mut watch = self.0.lock();
        if let Some(jump) = watch.check() {
            // Still locked: no call may be admitted in between.
            policies.set_clock(jump);
            tracing::warn!("{}", jump_message(jump));
        }
    }

    /// Like [`BudgetClock::check`], before a call is admitted: the check every second would come
    /// too late for it.
    pub(crate) fn check_for_call(&self, policies: &Policies) {
        let needs_check = self.0.lock().needs_check();
        if needs_check {
            self.check(policies);
        }
    }
}

fn jump_message(jump: ClockJump) -> String {
    let seconds = jump.millis().unsigned_abs() / 1000;
    let direction = if jump.millis() > 0 { "forward" } else { "back" };
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!(
        "the clock of this machine was set {direction} by {hours} h {minutes} min {seconds} s: what was spent of budgets still \
         counts, and alerts that wait are sent as if it had not been set"
    )
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;

    #[test]
    fn clock_jump_is_logged_with_its_direction() {
        let (early, late) = (Timestamp::from_millis(0), Timestamp::from_millis(86_461_000));
        let forward = jump_message(ClockJump { expected: early, now: late });
        assert!(forward.contains("set forward by 24 h 1 min 1 s"), "{forward}");
        assert!(jump_message(ClockJump { expected: late, now: early }).contains("set back by 24 h"));
    }
}
