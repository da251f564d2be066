//! The connection to the server. If heartbeats are not answered, another one is opened: nothing
//! else shows that the host has vanished.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, RedisError};

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long an answer may take. The caller's own timeout is shorter.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The connection to the server. Cloning is cheap.
#[derive(Clone)]
pub(super) struct Connection(Arc<Inner>);

struct Inner {
    client: Client,
    current: Mutex<ConnectionManager>,
    is_renewing: AtomicBool,
}

impl Connection {
    pub(super) async fn open(client: Client) -> Result<Connection, RedisError> {
        let current = Mutex::new(connect(&client).await?);
        Ok(Connection(Arc::new(Inner { client, current, is_renewing: AtomicBool::new(false) })))
    }

    /// The connection in use.
    pub(super) fn get(&self) -> ConnectionManager {
        self.0.current.lock().clone()
    }

    /// How to open another connection.
    pub(super) fn client(&self) -> &Client {
        &self.0.client
    }

    /// Expects an answer: if the result is dropped without [`Expected::arrived`], the connection is
    /// replaced.
    pub(super) fn expect_answer(&self) -> Expected {
        Expected { connection: self.clone(), has_arrived: false }
    }

    async fn renew(self) {
        if self.0.is_renewing.swap(true, Ordering::AcqRel) {
            return;
        }
        match connect(&self.0.client).await {
            Ok(connection) => *self.0.current.lock() = connection,
            Err(error) => tracing::debug!(%error, "no other connection to what replicas share"),
        }
        self.0.is_renewing.store(false, Ordering::Release);
    }
}

async fn connect(client: &Client) -> Result<ConnectionManager, RedisError> {
    let config = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(CONNECT_TIMEOUT))
        .set_response_timeout(Some(RESPONSE_TIMEOUT))
        .set_number_of_retries(1);
    ConnectionManager::new_with_config(client.clone(), config).await
}

/// An answer that the server owes.
pub(super) struct Expected {
    connection: Connection,
    has_arrived: bool,
}

impl Expected {
    pub(super) fn arrived(mut self) {
        self.has_arrived = true;
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        // Without a runtime the process is ending.
        if let (false, Ok(runtime)) = (self.has_arrived, tokio::runtime::Handle::try_current()) {
            runtime.spawn(self.connection.clone().renew());
        }
    }
}
