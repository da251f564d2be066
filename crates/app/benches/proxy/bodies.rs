//! The requests of the bench: what a tool-using agent sends, in several sizes, formats and degrees
//! of repetition.

use crate::conversation::{Api, conversation};
use crate::processes::Target;

/// How many different bodies a workload cycles through: more than a window holds.
const VARIANTS: usize = 64;

/// One kind of traffic.
#[derive(Clone, Copy)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) api: Api,
    pub(crate) bodies: Bodies,
    body_size: usize,
    streamed: bool,
}

/// How the bodies of one workload differ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bodies {
    /// More different ones than a window holds.
    Different,
    /// Always the same: every call matches its whole window, as a loop does until it is stopped.
    Repeated,
}

impl Bodies {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Bodies::Different => "different",
            Bodies::Repeated => "repeated",
        }
    }
}

const SMALL: Workload =
    Workload { name: "0.5 KB", api: Api::OpenAi, bodies: Bodies::Different, body_size: 512, streamed: false };
const MEDIUM: Workload = Workload { name: "32 KB", body_size: 32 * 1024, ..SMALL };

impl Workload {
    /// The workloads of the first table.
    pub(crate) fn sizes() -> [Workload; 4] {
        [
            SMALL,
            MEDIUM,
            Workload { name: "400 KB", body_size: 400 * 1024, ..SMALL },
            Workload { name: "stream", body_size: 2 * 1024, streamed: true, ..SMALL },
        ]
    }

    /// The workloads of the second table: both formats, different bodies and the same one again.
    pub(crate) fn kinds() -> impl Iterator<Item = Workload> {
        let both = [Bodies::Different, Bodies::Repeated];
        let of_size = move |size: Workload| {
            let of_api = move |api| both.map(|bodies| Workload { api, bodies, ..size });
            [Api::OpenAi, Api::Anthropic].into_iter().flat_map(of_api)
        };
        [SMALL, MEDIUM].into_iter().flat_map(of_size)
    }

    /// Whole HTTP requests, ready to be written to a socket.
    pub(crate) fn requests(&self, target: &dyn Target) -> Vec<Vec<u8>> {
        let variants = if self.bodies == Bodies::Different { VARIANTS } else { 1 };
        (0..variants)
            .map(|variant| {
                let body = conversation(self.api, self.body_size, variant, self.streamed);
                let mut request = format!(
                    "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\nauthorization: Bearer sk-bench\r\n\
                     user-agent: bench\r\naccept: application/json\r\ncontent-length: {}\r\n\r\n",
                    target.path(self.api),
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
