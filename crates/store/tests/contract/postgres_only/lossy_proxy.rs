//! A proxy between a server and its database that loses acknowledgements of commits.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::backend::{Postgres, Server};
use crate::postgres_server::PostgresServer;

/// Loses every new connection, too.
const ALL: usize = usize::MAX;

/// How many acknowledgements are still to be lost. Clones share the number.
#[derive(Clone)]
pub(super) struct Losses(Arc<watch::Sender<usize>>);

impl Losses {
    /// Loses the next `count` acknowledgements.
    pub(super) fn lose(&self, count: usize) {
        self.0.send_replace(count);
    }

    /// Loses all acknowledgements and all new connections.
    pub(super) fn lose_all(&self) {
        self.lose(ALL);
    }

    pub(super) fn left(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until only `count` acknowledgements are still to be lost.
    pub(super) async fn wait_until_left(&self, count: usize) {
        let mut left = self.0.subscribe();
        let waiting = left.wait_for(|left| *left == count);
        let _left = tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("a loss in time").unwrap();
    }

    /// Counts one loss; `false` if none is due.
    fn take_one(&self) -> bool {
        self.0.send_if_modified(|left| match left.checked_sub(1) {
            Some(fewer) => {
                *left = fewer;
                true
            }
            None => false,
        })
    }
}

/// A server that reaches its database through the proxy.
pub(super) async fn open_with_losses(postgres: &PostgresServer) -> (Server, Losses) {
    let url = postgres.create_database();
    let server_port = url.split([':', '/']).filter_map(|part| part.parse().ok()).next().unwrap();
    let (port, losses) = start(server_port).await;
    (Postgres::open(&url.replace(&format!(":{server_port}/"), &format!(":{port}/"))).await, losses)
}

async fn start(server_port: u16) -> (u16, Losses) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let losses = Losses(Arc::new(watch::Sender::new(0)));
    let of_connections = losses.clone();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            if of_connections.left() == ALL {
                continue;
            }
            let Ok(server) = TcpStream::connect(("127.0.0.1", server_port)).await else { continue };
            tokio::spawn(pass_on(client, server, of_connections.clone()));
        }
    });
    (port, losses)
}

async fn pass_on(mut client: TcpStream, mut server: TcpStream, losses: Losses) {
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            Ok(length) = client.read(&mut asked) => {
                let bytes = &asked[..length];
                if length == 0 || server.write_all(bytes).await.is_err() {
                    return;
                }
                if bytes.windows(6).any(|word| word == b"COMMIT") && losses.take_one() {
                    // The server has committed once it answers.
                    let _ = server.read(&mut answered).await;
                    return;
                }
            }
            Ok(length) = server.read(&mut answered) => {
                if length == 0 || client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
            else => return,
        }
    }
}
