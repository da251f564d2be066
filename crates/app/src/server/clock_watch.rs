//! Has the proxy compare the machine's clock with the time that has passed, even if no call comes.

use std::time::Duration;

use proxy::Proxy;
use tokio::task::JoinHandle;

const INTERVAL: Duration = Duration::from_secs(1);

/// Watches the clock until the task is aborted.
pub(crate) fn start(proxy: Proxy) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(INTERVAL);
        loop {
            ticks.tick().await;
            proxy.check_clock();
        }
    })
}
