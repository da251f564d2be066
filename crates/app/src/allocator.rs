//! The options of the allocator. It reads them from the environment before `main` begins, so a
//! process that needs others has to start again.

use std::io;

/// A page of memory that another thread frees a block of goes back to all threads. With the
/// default, the freeing thread takes the page over and keeps it: two thirds of what thousands of
/// streams took was never given back.
const OPTIONS: [(&str, &str); 1] = [("MIMALLOC_PAGE_RECLAIM_ON_FREE", "-1")];

/// Starts this process again, under the same id, with the options of the allocator, unless they are
/// set.
pub fn ensure_options() {
    if OPTIONS.iter().all(|(name, _)| std::env::var_os(name).is_none()) {
        // It returns only if it fails. Then the process goes on and gives back less memory.
        let _: io::Error = restart();
    }
}

#[cfg(unix)]
fn restart() -> io::Error {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    match std::env::current_exe() {
        Ok(program) => Command::new(program).arg0(name).args(arguments).envs(OPTIONS).exec(),
        Err(error) => error,
    }
}

#[cfg(not(unix))]
fn restart() -> io::Error {
    io::ErrorKind::Unsupported.into()
}
