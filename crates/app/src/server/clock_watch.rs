//! Detects that the machine's clock was set, logs it once, and keeps budgets from restarting
//! because of it.

use std::sync::Arc;
use std::time::Duration;

use guard::Guard;
use model::{Clock, ClockJump, ClockWatch};
use tokio::task::JoinHandle;

/// How often the clock is compared with the time that has passed.
const EVERY: Duration = Duration::from_secs(1);

/// Watches `clock` until the task is aborted.
pub(crate) fn start(clock: Clock, guard: Arc<Guard>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut watch = ClockWatch::new(clock);
        let mut ticks = tokio::time::interval(EVERY);
        loop {
            ticks.tick().await;
            if let Some(jump) = watch.look() {
                guard.policies().set_clock(jump);
                tracing::warn!("{}", told(jump));
            }
        }
    })
}

fn told(jump: ClockJump) -> String {
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
        let forward = told(ClockJump { expected: early, now: late });
        assert!(forward.contains("set forward by 24 h 1 min 1 s"), "{forward}");
        assert!(told(ClockJump { expected: late, now: early }).contains("set back by 24 h"));
    }
}
