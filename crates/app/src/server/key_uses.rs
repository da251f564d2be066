//! Stores when agent keys were last used.

use std::time::Duration;

use control::Control;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

/// Often enough for people who look for unused keys, rare enough for the disk.
const PERIOD: Duration = Duration::from_secs(60);

/// Stores them once a minute, apart from the calls that use the keys.
pub(crate) fn start(control: Control) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            control.store_key_uses().await;
        }
    })
}
