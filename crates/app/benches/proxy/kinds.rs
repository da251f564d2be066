//! CPU time per request by kind of traffic: both formats, different bodies and the same one again,
//! few and many connections.

use std::path::Path;
use std::time::Duration;

use crate::bare::Bare;
use crate::bodies::Workload;
use crate::load;
use crate::processes::{BodyBuffering, Nginx, Ours, Provider, Target};

const CONNECTIONS: [usize; 3] = [1, 16, 64];
/// The targets take turns this often and the least CPU time counts: noise only ever adds.
const ROUNDS: u32 = 9;
/// How long each is under load before it is measured: windows are full after that.
const WARM_UP: Duration = Duration::from_millis(100);

/// Measures and prints, a line as soon as it is known. `time` is that of all rounds of one target.
pub(crate) fn print(folder: &Path, provider: &Provider, time: Duration) {
    println!("\nCPU per request by kind of traffic, the least of {ROUNDS} rounds; ours against nginx and a bare proxy");
    for workload in Workload::kinds() {
        let nginx = Nginx::start(folder, provider, BodyBuffering::Off);
        let bare = Bare::start(provider);
        let ours = Ours::start(folder, provider);
        for connections in CONNECTIONS {
            let targets = [&nginx as &dyn Target, &bare, &ours];
            let [nginx, bare, ours] = least_cpu(targets, &workload, connections, time / ROUNDS);
            let ratio = |other: Duration| ours.as_secs_f64() / other.as_secs_f64();
            println!(
                "{:>8} {:<9} {:<9} {connections:>3} connections   ours {ours:>7.1?}   nginx {nginx:>7.1?} = {:.2}×   bare {bare:>7.1?} = {:.2}×",
                workload.name,
                workload.api.name(),
                workload.bodies.name(),
                ratio(nginx),
                ratio(bare),
            );
        }
    }
}

/// The least CPU time per request of each target.
fn least_cpu(targets: [&dyn Target; 3], workload: &Workload, connections: usize, time: Duration) -> [Duration; 3] {
    let requests = targets.map(|target| workload.requests(target).into());
    let mut least = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        for ((target, requests), least) in targets.iter().zip(&requests).zip(&mut least) {
            load::run(target.address(), requests, connections, WARM_UP);
            let before = target.cpu_time();
            let run = load::run(target.address(), requests, connections, time);
            let cpu = target.cpu_time().saturating_sub(before) / run.requests().max(1) as u32;
            *least = cpu.min(*least);
        }
    }
    least
}
