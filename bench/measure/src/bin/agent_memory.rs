//! How much memory 100,000 agents with full windows take: `cargo run --release -p measure --bin
//! agent_memory`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "run by hand to see what it prints")]

use guard::{Decision, Guard, GuardConfig, NewCall};
use model::{AgentId, Answered, Asked, CallId, Timestamp, ToolCall};

const AGENTS: u64 = 100_000;
/// More than a window has: what a full one takes with its next calls is counted, too.
const CALLS: u32 = 25;

fn main() {
    let guard = Guard::new(GuardConfig::default());
    let before = resident();
    // One conversation after the other: the older one's window is full, too, and nothing of it is
    // in the agent's.
    for conversation in ["first", "second"] {
        (0..AGENTS).for_each(|agent| (0..CALLS).for_each(|number| exchange(&guard, agent, conversation, number)));
        let used = resident().saturating_sub(before);
        println!("{AGENTS} agents after {CALLS} calls in the {conversation} conversation: {used} MB");
    }
    // A flood of names takes no more than the agents it pushes out.
    (AGENTS..10 * AGENTS).for_each(|agent| exchange(&guard, agent, "flood", 0));
    println!("after {} more names: {} MB", 9 * AGENTS, resident().saturating_sub(before));
}

fn exchange(guard: &Guard, agent: u64, conversation: &str, number: u32) {
    let agent = AgentId::parse(&format!("an-agent-with-a-name-{agent}")).unwrap();
    let call = ToolCall { name: "bash".into(), arguments: "{}".into() };
    let asked = Asked {
        prompt: vec!["a question".into()],
        depth: number,
        tool_calls: vec![call],
        tool_results: vec!["a result".into()],
        ..Asked::default()
    };
    let call = NewCall { agent: &agent, call: CallId::new(), conversation, body: b"{}", asked: &asked };
    if let Decision::Scored(scored) = guard.on_call(&call, Timestamp::from_millis(1)) {
        guard.on_answer(
            &scored.ticket,
            &Answered { text: "an answer".to_owned(), tool_calls: Vec::new() },
            Timestamp::from_millis(1),
        );
    }
}

/// The memory of this process, in MB.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages * 4096 / 1_000_000)
}
