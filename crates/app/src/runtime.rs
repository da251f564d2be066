//! The async runtimes of commands.

use crate::exit::Failure;

/// Runs a command that only makes requests to a server.
pub(crate) fn on_one_thread<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// Runs a command that serves. On one core a multi-threaded runtime gains nothing and costs time.
pub(crate) fn on_all_cores<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 1) {
        return on_one_thread(work);
    }
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}
