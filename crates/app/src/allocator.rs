//! The options of the allocator. It reads them from the environment before `main` begins, so a
//! process that needs others has to start again.

use std::io;

const OPTIONS: [(&str, &str); 2] = [
    // A page of memory that another thread frees a block of goes back to all threads. With the
    // default, the freeing thread takes the page over and keeps it: two thirds of what thousands of
    // streams took was never given back.
    ("MIMALLOC_PAGE_RECLAIM_ON_FREE", "-1"),
    // Milliseconds until an unused page goes back to the system. It goes with a later call of the
    // allocator: with the default of a second, the last pages of a burst waited for the next burst.
    ("MIMALLOC_PURGE_DELAY", "10"),
];

/// Starts this process again, under the same id, with the options of the allocator that are not
/// set.
pub fn ensure_options() {
    let missing: Vec<_> = OPTIONS.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()).collect();
    if !missing.is_empty() {
        // It returns only if it fails. Then the process goes on and gives back less memory.
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
