//! Tests of the windows of one agent.

use model::{Step, Turn};

use super::*;

#[test]
fn a_full_window_takes_no_more_slots_than_it_has_calls() {
    let bounds = Bounds { window_size: 20, max_conversations: 64 };
    let mut windows = Windows::default();
    for number in 1..=100 {
        let print = Fingerprint {
            call: CallId::new(),
            number,
            time: Timestamp::from_millis(0),
            conversation: ConversationId(0),
            body: 0,
            prompt: None,
            prompt_is_short: false,
            prompt_is_error: false,
            prompt_is_common: false,
            turn: Turn { message: 0, position: 0 },
            step: Step { depth: 0, newest: 0 },
            tools: None,
            response: None,
            outcome: Outcome::Answered,
            is_sample: false,
            silence: 0,
            novelty: model::Novelty::Neutral,
        };
        windows.push(&print, bounds);
    }
    assert_eq!(windows.slab.used(), 20);
}
