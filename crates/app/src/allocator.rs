//! The allocator: its options, and the return of unused memory to the system. It reads the options
//! from the environment before `main` begins, so a process without them has to start again.

use std::hint::black_box;
use std::io;
use std::thread;
use std::time::Duration;

const OPTIONS: [(&str, &str); 2] = [
    // A page in which another thread frees a block becomes available to all threads. By default the
    // freeing thread takes over the page and keeps it: two thirds of the memory of thousands of
    // streams was never released.
    ("MIMALLOC_PAGE_RECLAIM_ON_FREE", "-1"),
    // Milliseconds until an unused page is returned to the system. Without the delay a busy server
    // returns the pages of its buffers all the time, and the kernel clears them again: a tenth of
    // the CPU time of a call.
    ("MIMALLOC_PURGE_DELAY", "500"),
];

/// How often memory is returned that is unused for longer than that delay.
const RETURN_EVERY: Duration = Duration::from_secs(1);

/// Restarts this process under the same id, with the missing options of the allocator.
pub fn ensure_options() {
    let missing: Vec<_> = OPTIONS.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()).collect();
    if !missing.is_empty() {
        // It returns only if it fails. The process then continues and releases less memory.
        let _: io::Error = restart(missing);
    }
}

/// Returns unused memory to the system, for as long as this is polled.
///
/// The allocator looks for pages that are due after some thousands of large allocations, of which
/// there are none after a burst of streams, and whenever a thread ends. So a thread ends from time
/// to time.
pub(crate) async fn return_unused_memory() {
    let mut ticks = tokio::time::interval(RETURN_EVERY);
    loop {
        ticks.tick().await;
        // Only a thread that has allocated something counts. If none can be started now, the next
        // one does it.
        let _ = thread::Builder::new().spawn(|| drop(black_box(Box::new(0_u8))));
    }
}

#[cfg(unix)]
fn restart(options: Vec<(&str, &str)>) -> io::Error {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    match std::env::current_exe() {
        Ok(program) => Command::new(program).arg0(name).args(arguments).envs(options).exec(),
        Err(error) => error,
    }
}

#[cfg(not(unix))]
fn restart(_: Vec<(&str, &str)>) -> io::Error {
    io::ErrorKind::Unsupported.into()
}
