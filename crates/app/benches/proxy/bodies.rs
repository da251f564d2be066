//! The requests of the bench: what a tool-using agent sends, in four sizes.

use crate::conversation::conversation;
use crate::processes::Target;

/// How many different bodies each workload cycles through: more than a window holds.
const VARIANTS: usize = 64;

/// One kind of traffic.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    body_size: usize,
    streamed: bool,
}

impl Workload {
    pub(crate) fn all() -> [Workload; 4] {
        [
            Workload { name: "0.5 KB", body_size: 512, streamed: false },
            Workload { name: "32 KB", body_size: 32 * 1024, streamed: false },
            Workload { name: "400 KB", body_size: 400 * 1024, streamed: false },
            Workload { name: "stream", body_size: 2 * 1024, streamed: true },
        ]
    }

    /// Whole HTTP requests, ready to be written to a socket.
    pub(crate) fn requests(&self, target: &dyn Target) -> Vec<Vec<u8>> {
        (0..VARIANTS)
            .map(|variant| {
                let body = conversation(self.body_size, variant, self.streamed);
                let mut request = format!(
                    "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\nauthorization: Bearer sk-bench\r\n\
                     user-agent: bench\r\naccept: application/json\r\ncontent-length: {}\r\n\r\n",
                    target.path(),
                    target.address(),
                    body.len()
                )
                .into_bytes();
                request.extend_from_slice(body.as_bytes());
                request
            })
            .collect()
    }
}
