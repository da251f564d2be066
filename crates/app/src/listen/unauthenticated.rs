//! Limits the connections of unauthenticated clients, by address. A further one is always accepted,
//! because it may be the operator's: the oldest one that waits for its client is closed.

use std::collections::{HashMap, VecDeque};

use model::Network;
use tokio::task::AbortHandle;
use tokio::time::{Duration, Instant};
use web::Client;

use super::connection_state::ConnectionState;

/// Closed connections are logged at most this often.
const WARN_EVERY: Duration = Duration::from_secs(600);

/// The most ended connections that are remembered.
const MAX_ENDED: usize = 128;

/// How many connections unauthenticated clients may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnauthenticatedLimits {
    /// From one network.
    pub(crate) per_network: usize,
    /// From all together.
    pub(crate) total: usize,
    /// Whether clients can authenticate. On the proxy's port they cannot, and always count.
    pub(crate) can_authenticate: bool,
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// The client, if it can authenticate.
    pub(super) client: Option<Client>,
    pub(super) state: ConnectionState,
    pub(super) task: AbortHandle,
}

impl Connection {
    fn counts(&self) -> bool {
        !self.task.is_finished() && !self.client.as_ref().is_some_and(Client::is_authenticated)
    }

    /// Whether it may be closed: no request is in progress. One that was not polled yet may hold a
    /// complete request.
    fn may_end(&self) -> bool {
        self.counts() && self.state.waits_for_client()
    }
}

/// The connections of unauthenticated clients, oldest first.
#[derive(Debug)]
pub(super) struct Unauthenticated {
    limits: UnauthenticatedLimits,
    networks: HashMap<Network, VecDeque<(u64, Connection)>>,
    next_number: u64,
    /// Entries in `networks`, some of which may no longer count.
    entries: usize,
    warned_at: Option<Instant>,
}

impl Unauthenticated {
    pub(super) fn new(limits: UnauthenticatedLimits) -> Unauthenticated {
        Unauthenticated { limits, networks: HashMap::new(), next_number: 0, entries: 0, warned_at: None }
    }

    /// Adds a connection and closes excess ones.
    pub(super) fn add(&mut self, network: Network, connection: Connection) {
        let number = self.next_number;
        self.next_number += 1;
        self.entries += 1;
        let own = self.networks.entry(network).or_default();
        own.push_back((number, connection));
        if own.len() > self.limits.per_network {
            self.entries -= own.len();
            own.retain(|(_, connection)| connection.counts());
            while own.len() > self.limits.per_network && end_oldest(own) {
                warn_once(&mut self.warned_at, self.limits);
            }
            self.entries += own.len();
        }
        if self.entries > self.limits.total {
            self.forget_ended();
            while self.entries > self.limits.total && self.end_oldest_of_all() {
                warn_once(&mut self.warned_at, self.limits);
            }
        }
    }

    /// Removes ended connections once there are many: their memory is held until then.
    pub(super) fn trim(&mut self, open: usize) {
        if self.entries > open + self.limits.per_network.min(MAX_ENDED) {
            self.forget_ended();
        }
    }

    fn forget_ended(&mut self) {
        self.networks.retain(|_, connections| {
            connections.retain(|(_, connection)| connection.counts());
            !connections.is_empty()
        });
        self.entries = self.networks.values().map(VecDeque::len).sum();
    }

    fn end_oldest_of_all(&mut self) -> bool {
        let oldest = |connections: &VecDeque<(u64, Connection)>| {
            connections.iter().find(|(_, connection)| connection.may_end()).map(|(number, _)| *number)
        };
        let found =
            self.networks.iter().filter_map(|(network, all)| Some((oldest(all)?, *network))).min_by_key(|it| it.0);
        let connections = found.and_then(|(_, network)| self.networks.get_mut(&network));
        let is_ended = connections.is_some_and(end_oldest);
        self.entries -= usize::from(is_ended);
        is_ended
    }
}

/// Logs at long intervals that connections are closed, so that an operator can look for the cause.
fn warn_once(warned_at: &mut Option<Instant>, limits: UnauthenticatedLimits) {
    if warned_at.is_some_and(|warned| warned.elapsed() < WARN_EVERY) {
        return;
    }
    *warned_at = Some(Instant::now());
    if limits.can_authenticate {
        tracing::warn!("clients without the token open too many connections to the dashboard: the oldest are closed");
    } else {
        tracing::warn!("one address opens too many connections to the proxy: its oldest idle ones are closed");
    }
}

/// Closes the oldest connection that waits for its client, preferring one that has sent something:
/// a client that has just connected is about to send its request. If there is none, all are being
/// answered and end by themselves.
fn end_oldest(connections: &mut VecDeque<(u64, Connection)>) -> bool {
    let has_begun = |(_, it): &(u64, Connection)| it.may_end() && it.state.has_received();
    let begun = connections.iter().position(has_begun);
    let place = begun.or_else(|| connections.iter().position(|(_, connection)| connection.may_end()));
    let ended = place.and_then(|place| connections.remove(place));
    ended.inspect(|(_, connection)| connection.task.abort()).is_some()
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use tokio::sync::oneshot::{self, error::RecvError};
    use tokio::task::JoinHandle;

    use super::*;

    const LIMITS: UnauthenticatedLimits = UnauthenticatedLimits { per_network: 2, total: 4, can_authenticate: true };

    struct Opened {
        client: Client,
        state: ConnectionState,
        /// Ends the task as a disconnecting client does.
        leave: oneshot::Sender<()>,
        task: JoinHandle<Result<(), RecvError>>,
    }

    fn open(all: &mut Unauthenticated, last: u8, waits: bool) -> Opened {
        let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, last));
        let (client, state) = (Client::new(address), ConnectionState::default());
        state.set_waits_to_read(waits);
        let (leave, left) = oneshot::channel();
        let task = tokio::spawn(left);
        let connection = Connection { client: Some(client.clone()), state: state.clone(), task: task.abort_handle() };
        all.add(Network::of(address), connection);
        Opened { client, state, leave, task }
    }

    /// Whether the connection was closed before its client left.
    async fn is_ended(opened: Opened) -> bool {
        let _ = opened.leave.send(());
        opened.task.await.is_err_and(|error| error.is_cancelled())
    }

    #[tokio::test]
    async fn the_oldest_connection_of_a_network_makes_room() {
        let mut all = Unauthenticated::new(LIMITS);
        let [first, second, other] = [(1, true), (1, true), (2, true)].map(|(last, waits)| open(&mut all, last, waits));
        let third = open(&mut all, 1, true);
        assert!(is_ended(first).await);
        for kept in [second, other, third] {
            assert!(!is_ended(kept).await);
        }
    }

    #[tokio::test]
    async fn a_connection_that_is_being_answered_is_kept() {
        let mut all = Unauthenticated::new(LIMITS);
        let [busy, waiting, new] = [(1, false), (1, true), (1, true)].map(|(last, waits)| open(&mut all, last, waits));
        assert!(!is_ended(busy).await && is_ended(waiting).await && !is_ended(new).await);
    }

    #[tokio::test]
    async fn a_connection_that_has_received_nothing_yet_is_ended_last() {
        let mut all = Unauthenticated::new(LIMITS);
        let [new, begun] = [open(&mut all, 1, true), open(&mut all, 1, true)];
        begun.state.set_has_received();
        let third = open(&mut all, 1, true);
        assert!(!is_ended(new).await && is_ended(begun).await && !is_ended(third).await);
    }

    #[tokio::test]
    async fn many_networks_share_one_limit() {
        let mut all = Unauthenticated::new(LIMITS);
        let opened: Vec<_> = (1..=6).map(|last| open(&mut all, last, true)).collect();
        let mut ended = Vec::new();
        for connection in opened {
            ended.push(is_ended(connection).await);
        }
        assert_eq!(ended, [true, true, false, false, false, false]);
        assert_eq!(all.entries, 4);
    }

    #[tokio::test]
    async fn authenticated_clients_do_not_count() {
        let mut all = Unauthenticated::new(LIMITS);
        let operator = open(&mut all, 1, true);
        operator.client.set_authenticated();
        let [first, ..] = [open(&mut all, 1, true), open(&mut all, 1, true), open(&mut all, 1, true)];
        assert_eq!(all.entries, 2);
        assert!(!is_ended(operator).await && is_ended(first).await);
    }
}
