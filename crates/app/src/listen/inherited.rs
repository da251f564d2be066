//! Sockets that a service manager opened before the server started (socket activation, as in
//! systemd). They stay open while the server restarts, and connections wait in their queues: none
//! is refused.

use std::net::{SocketAddr, TcpListener};

use anyhow::{Context, bail, ensure};
use listenfd::ListenFd;

/// The inherited sockets that are not taken yet.
#[derive(Debug, Default)]
pub(crate) struct InheritedSockets(Vec<Inherited>);

#[derive(Debug)]
struct Inherited {
    name: String,
    socket: TcpListener,
}

/// The socket that a listener needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketRequest {
    /// The name of the socket, if it has one (`FileDescriptorName=`).
    pub(crate) name: &'static str,
    /// The configured address.
    pub(crate) address: SocketAddr,
}

impl InheritedSockets {
    /// Takes the sockets of `LISTEN_FDS`. Must run before there are threads, because it clears
    /// those variables.
    pub(crate) fn from_environment() -> anyhow::Result<InheritedSockets> {
        let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
        let mut names = names.split(':');
        let mut handed_over = ListenFd::from_env();
        let mut sockets = Vec::new();
        for place in 0..handed_over.len() {
            let name = names.next().unwrap_or_default().to_owned();
            let socket = handed_over.take_tcp_listener(place);
            let socket = socket.with_context(|| format!("socket {place} of LISTEN_FDS cannot be used"))?;
            sockets.extend(socket.map(|socket| Inherited { name, socket }));
        }
        Ok(InheritedSockets(sockets))
    }

    /// The socket with the wanted name, or else the one on the wanted port. `None` if no socket was
    /// inherited at all.
    pub(crate) fn take(&mut self, wanted: SocketRequest) -> anyhow::Result<Option<TcpListener>> {
        let is_named = |it: &Inherited| it.name == wanted.name;
        let is_on_port = |it: &Inherited| {
            let is_others = matches!(it.name.as_str(), "proxy" | "dashboard");
            !is_others && it.socket.local_addr().is_ok_and(|address| address.port() == wanted.address.port())
        };
        let place = self.0.iter().position(is_named).or_else(|| self.0.iter().position(is_on_port));
        let Some(place) = place else { return Ok(None) };
        let socket = self.0.remove(place).socket;
        let address = socket.local_addr()?;
        // The settings decide who can reach the server, and whether that requires a token.
        ensure!(
            address.ip() == wanted.address.ip(),
            "the {} socket of LISTEN_FDS is on {address}, but the setting bind is {}: both must say the same",
            wanted.name,
            wanted.address.ip()
        );
        socket.set_nonblocking(true)?;
        Ok(Some(socket))
    }

    /// Fails if an inherited socket is unused: its clients would wait for ever.
    pub(crate) fn ensure_all_taken(&self) -> anyhow::Result<()> {
        let Some(Inherited { name, socket }) = self.0.first() else { return Ok(()) };
        let address = socket.local_addr()?;
        bail!(
            "the socket {name:?} of LISTEN_FDS on {address} is for no listener: name it proxy or dashboard, or set \
             proxy_port or port to its port"
        );
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    fn sockets(names: [&str; 2]) -> (InheritedSockets, [u16; 2]) {
        let sockets =
            names.map(|name| Inherited { name: name.to_owned(), socket: TcpListener::bind("127.0.0.1:0").unwrap() });
        let ports = [0, 1].map(|place: usize| sockets[place].socket.local_addr().unwrap().port());
        (InheritedSockets(Vec::from(sockets)), ports)
    }

    fn wanted(name: &'static str, port: u16) -> SocketRequest {
        SocketRequest { name, address: SocketAddr::from(([127, 0, 0, 1], port)) }
    }

    fn taken(sockets: &mut InheritedSockets, wanted: SocketRequest) -> Option<u16> {
        sockets.take(wanted).unwrap().map(|socket| socket.local_addr().unwrap().port())
    }

    #[test]
    fn sockets_are_found_by_name_or_by_port() {
        let (mut named, [first, second]) = sockets(["dashboard", "proxy"]);
        assert_eq!(taken(&mut named, wanted("proxy", 0)), Some(second));
        assert_eq!(taken(&mut named, wanted("dashboard", first)), Some(first));
        named.ensure_all_taken().unwrap();

        let (mut unnamed, [first, second]) = sockets(["agentgazer.socket", "agentgazer.socket"]);
        assert_eq!(taken(&mut unnamed, wanted("proxy", second)), Some(second));
        assert!(unnamed.ensure_all_taken().unwrap_err().to_string().contains(&first.to_string()));
        assert_eq!(taken(&mut unnamed, wanted("dashboard", first)), Some(first));
        assert_eq!(taken(&mut unnamed, wanted("dashboard", first)), None);
    }

    #[test]
    fn a_socket_that_more_can_reach_than_the_settings_say_is_refused() {
        let socket = TcpListener::bind("0.0.0.0:0").unwrap();
        let mut open = InheritedSockets(vec![Inherited { name: "proxy".to_owned(), socket }]);
        let refused = open.take(wanted("proxy", 0)).unwrap_err().to_string();
        assert!(refused.contains("bind is 127.0.0.1"), "{refused}");
    }
}
