//! How much memory agents take: `cargo run --release -p measure --bin agent_memory [AGENTS
//! [CALLS]]`. The product has another allocator, mimalloc, which takes a little more or less.
//! Without arguments a million agents make two calls each; `100000 50` has full windows of two
//! conversations.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "run by hand to see what it prints")]

use guard::{Decision, Guard, GuardConfig, NewCall};
use model::{AgentId, Answered, Asked, CallId, Timestamp, ToolCall};

/// How many calls of one conversation follow each other: more than a window has, so that what a
/// full one takes with its next calls is counted, too.
const CALLS_OF_CONVERSATION: u64 = 25;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().unwrap());
    let agents = arguments.next().unwrap_or(1_000_000);
    let calls = arguments.next().unwrap_or(2);
    let guard = Guard::new(GuardConfig { max_agents: agents as usize, ..GuardConfig::default() });
    for number in 0..calls {
        (0..agents).for_each(|agent| exchange(&guard, agent, number));
        if [1, 2, 5, 10].contains(&(number + 1)) || (number + 1) % CALLS_OF_CONVERSATION == 0 {
            println!("{agents} agents after {} calls: {} MB", number + 1, resident());
        }
    }
    // A flood of names takes no more than the agents it pushes out.
    (agents..2 * agents).for_each(|agent| exchange(&guard, agent, 0));
    println!("after {agents} more names: {} MB", resident());
}

/// A first call that asks something, then calls that report the result of a tool.
fn exchange(guard: &Guard, agent: u64, number: u64) {
    let agent = AgentId::parse(&format!("an-agent-with-a-name-{agent}")).unwrap();
    let result = format!("a result with the number {number}");
    let (tool_calls, tool_results) = match number {
        0 => (Vec::new(), Vec::new()),
        _ => (vec![ToolCall { name: "bash".into(), arguments: "{}".into() }], vec![result.as_str().into()]),
    };
    let asked = Asked {
        prompt: vec!["a question".into()],
        depth: 2 * number as u32,
        tool_calls,
        tool_results,
        ..Asked::default()
    };
    let body = format!("{agent} {number}");
    let conversation = format!("{}", number / CALLS_OF_CONVERSATION);
    let now = Timestamp::from_millis(1_760_000_000_000 + 5_000 * number as i64);
    let id = CallId::at(now);
    let call = NewCall { agent: &agent, call: id, conversation: &conversation, body: body.as_bytes(), asked: &asked };
    if let Decision::Scored(scored) = guard.on_call(&call, now) {
        let answer = Answered { text: format!("an answer to the call {id}"), tool_calls: Vec::new() };
        guard.on_answer(&scored.ticket, &answer, now);
    }
}

/// The memory of this process, in MB.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).map_or(0, |pages| pages * 4096 / 1_000_000)
}
