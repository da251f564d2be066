//! What an agent key costs: CPU time per request with one and without, on the same server in turns.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use crate::bodies::Workload;
use crate::load;
use crate::processes::{Ours, Provider, Target};

/// The two take turns this often and the least CPU time counts: noise only ever adds.
const ROUNDS: u32 = 15;
const CONNECTIONS: usize = 16;
const WARM_UP: Duration = Duration::from_millis(100);

/// Measures and prints. `time` is that of all rounds of one workload.
pub(crate) fn print(folder: &Path, provider: &Provider, time: Duration) {
    println!("\nCPU per request with an agent key against without, the least of {ROUNDS} rounds");
    for workload in Workload::sizes() {
        let ours = Ours::start(folder, provider);
        ask(&ours, "PUT", "/api/providers/openai", r#"{"key":"sk-stored"}"#);
        let made = ask(&ours, "POST", "/api/agent-keys", r#"{"agent":"bench"}"#);
        let key = made.split("agk_").nth(1).and_then(|rest| rest.split('"').next()).expect("a key");
        let without = workload.requests(&ours);
        let with = without.iter().map(|request| with_key(request, &format!("agk_{key}"))).collect::<Vec<_>>();
        let (with, without) = (with.into(), without.into());
        let mut least = [Duration::MAX; 2];
        for _ in 0..ROUNDS {
            for (requests, least) in [&with, &without].into_iter().zip(&mut least) {
                load::run(ours.address(), requests, CONNECTIONS, WARM_UP);
                let before = ours.cpu_time();
                let run = load::run(ours.address(), requests, CONNECTIONS, time / ROUNDS);
                let cpu = ours.cpu_time().saturating_sub(before) / run.requests().max(1) as u32;
                *least = cpu.min(*least);
            }
        }
        let [with, without] = least;
        let more = (with.as_secs_f64() / without.as_secs_f64() - 1.0) * 100.0;
        println!("{:>8}   with {with:>7.1?}   without {without:>7.1?}   {more:+.1} %", workload.name);
    }
}

/// The request with the agent key in the place of the client's own key.
fn with_key(request: &[u8], key: &str) -> Vec<u8> {
    let own = b"sk-bench";
    let at = request.windows(own.len()).position(|window| window == own).expect("a credential");
    [&request[..at], key.as_bytes(), &request[at + own.len()..]].concat()
}

/// What the API answers.
fn ask(ours: &Ours, method: &str, path: &str, body: &str) -> String {
    let (address, authorization) = ours.api();
    let mut stream = TcpStream::connect(address).expect("a connection");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\n{authorization}\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}
