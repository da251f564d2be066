//! A TCP relay: the load balancer in front of the replicas, and the connection between a replica
//! and its engine, which can be slow, lossy or silent in one direction.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How long TCP waits before it sends a lost packet again.
const RETRANSMISSION: Duration = Duration::from_millis(200);

/// A fault of a connection. Bytes that do not arrive are kept, as TCP keeps them, and arrive once
/// the fault is over.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// 50 ms each way, and every twentieth packet is lost.
    SlowAndLossy,
    /// Requests do not arrive; answers would.
    RequestsHeld,
    /// Requests arrive; answers do not.
    AnswersHeld,
    /// The other host has vanished. Bytes sent to it are lost, and its connections are neither
    /// answered nor closed when another host takes its address.
    Vanished,
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Request,
    Answer,
}

/// Accepts connections and passes them to one target after the other.
pub(crate) struct Relay {
    address: SocketAddr,
    way: Arc<RelayState>,
    task: JoinHandle<()>,
}

struct RelayState {
    targets: Mutex<Vec<SocketAddr>>,
    next: AtomicUsize,
    fault: watch::Sender<Fault>,
    packets: AtomicU64,
}

impl Relay {
    pub(crate) async fn start(targets: Vec<SocketAddr>) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (fault, _) = watch::channel(Fault::None);
        let targets = Mutex::new(targets);
        let way = Arc::new(RelayState { targets, next: AtomicUsize::new(0), fault, packets: AtomicU64::new(0) });
        let accepting = Arc::clone(&way);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&accepting).pass(client));
            }
        });
        Relay { address, way, task }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Directs new connections to these targets; existing ones stay.
    pub(crate) fn set_targets(&self, targets: Vec<SocketAddr>) {
        *self.way.targets.lock() = targets;
    }

    pub(crate) fn set(&self, fault: Fault) {
        self.way.fault.send_replace(fault);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RelayState {
    async fn pass(self: Arc<RelayState>, mut client: TcpStream) {
        let mut fault = self.fault.subscribe();
        tokio::select! {
            biased;
            Ok(_) = fault.wait_for(|fault| *fault == Fault::Vanished) => {}
            () = self.pass_to_server(&mut client) => return,
        }
        // Keeps the connection to the client open.
        std::future::pending().await
    }

    async fn pass_to_server(&self, client: &mut TcpStream) {
        let Some(mut server) = self.connect().await else { return };
        for stream in [&*client, &server] {
            let _ = stream.set_nodelay(true);
        }
        let ((from_client, to_client), (from_server, to_server)) = (client.split(), server.split());
        let requests = self.carry(Direction::Request, from_client, to_server);
        let answers = self.carry(Direction::Answer, from_server, to_client);
        tokio::join!(requests, answers);
    }

    /// Connects to the next target that accepts, like a load balancer with passive health checks.
    async fn connect(&self) -> Option<TcpStream> {
        let targets = self.targets.lock().clone();
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        for number in 0..targets.len() {
            if let Ok(stream) = TcpStream::connect(targets[(first + number) % targets.len()]).await {
                return Some(stream);
            }
        }
        None
    }

    async fn carry(&self, direction: Direction, mut from: ReadHalf<'_>, mut to: WriteHalf<'_>) {
        let (sender, mut receiver) = mpsc::channel::<(Instant, Vec<u8>)>(1_024);
        let reading = async {
            let mut buffer = vec![0; 16 << 10];
            while let Ok(length @ 1..) = from.read(&mut buffer).await {
                if sender.send((Instant::now() + self.delay(), buffer[..length].to_vec())).await.is_err() {
                    break;
                }
            }
            drop(sender);
        };
        let writing = async {
            let mut fault = self.fault.subscribe();
            while let Some((due, bytes)) = receiver.recv().await {
                tokio::time::sleep_until(due).await;
                let _ = fault.wait_for(|fault| !holds(*fault, direction)).await;
                if to.write_all(&bytes).await.is_err() {
                    break;
                }
            }
            let _ = to.shutdown().await;
            receiver.close();
        };
        tokio::join!(reading, writing);
    }

    fn delay(&self) -> Duration {
        if *self.fault.borrow() != Fault::SlowAndLossy {
            return Duration::ZERO;
        }
        let is_lost = self.packets.fetch_add(1, Ordering::Relaxed) % 20 == 19;
        Duration::from_millis(50) + if is_lost { RETRANSMISSION } else { Duration::ZERO }
    }
}

fn holds(fault: Fault, direction: Direction) -> bool {
    matches!((fault, direction), (Fault::RequestsHeld, Direction::Request) | (Fault::AnswersHeld, Direction::Answer))
}
