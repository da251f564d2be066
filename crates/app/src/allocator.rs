//! The options of the allocator. It reads them from the environment before `main` begins, so a
//! process without them has to start again.

use std::io;

const OPTIONS: [(&str, &str); 2] = [
    // A page in which another thread frees a block becomes available to all threads. By default the
    // freeing thread takes over the page and keeps it: two thirds of the memory of thousands of
    // streams was never released.
    ("MIMALLOC_PAGE_RECLAIM_ON_FREE", "-1"),
    // An unused page is returned to the system at once. After a delay that happens only at a later
    // call of the allocator, and after a burst of streams there is none: up to a hundred megabytes
    // stayed. The CPU time per call is the same.
    ("MIMALLOC_PURGE_DELAY", "0"),
];

/// Restarts this process under the same id, with the missing options of the allocator.
pub fn ensure_options() {
    let missing: Vec<_> = OPTIONS.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()).collect();
    if !missing.is_empty() {
        // It returns only if it fails. The process then continues and releases less memory.
        let _: io::Error = restart(missing);
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
