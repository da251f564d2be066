//! Tests of the windows of one agent.

use proptest::prelude::*;

use super::packed_fingerprint::tests::prints;
use super::*;

fn print(number: u64) -> Fingerprint {
    let print = Fingerprint::new(CallId::new(), number, Timestamp::from_millis(0));
    Fingerprint { outcome: Outcome::Answered, ..print }
}

#[test]
fn a_full_window_takes_no_more_slots_than_it_has_calls() {
    let bounds = Bounds { window_size: 20, max_conversations: 64 };
    let mut windows = Windows::default();
    for number in 1..=100 {
        windows.push(&print(number), bounds);
    }
    assert_eq!(windows.slab.used(), 20);
}

/// What windows hold, whatever keys it lies under.
fn contents(windows: &Windows) -> impl PartialEq + std::fmt::Debug {
    let prints = |calls: &Calls| -> (usize, Vec<Fingerprint>) {
        let prints = calls.keys().iter().map(|key| Fingerprint::from(windows.slab.get(*key)));
        (calls.asks().len(), prints.collect())
    };
    let mut in_flight: Vec<CallId> = windows.in_flight.ids().collect();
    in_flight.sort_unstable();
    let conversations: Vec<_> =
        windows.conversations.iter().map(|it| (it.id, it.last_active, prints(&it.calls))).collect();
    ((windows.newest, windows.floor, windows.failed), prints(&windows.all), conversations, in_flight)
}

/// The calls of a window that are not samples, found from scratch.
fn find_asks(windows: &Windows, calls: &Calls) -> Vec<slab::Key> {
    calls.keys().iter().copied().filter(|key| !windows.slab.get(*key).is_sample()).collect()
}

proptest! {
    #[test]
    fn closed_windows_open_as_they_were(
        prints in prop::collection::vec((prints(), 0..6_u64, 0..4_u8), 0..60),
        resized in prop::option::of(1..8_usize),
    ) {
        let bounds = Bounds { window_size: 5, max_conversations: 3 };
        let mut windows = Windows::default();
        for (number, (print, conversation, repeated)) in (1 << 20..).zip(prints) {
            let before = windows.newest().filter(|_| repeated == 0);
            let print = Fingerprint { number, conversation: ConversationId(conversation), ..before.unwrap_or(print) };
            windows.push(&print, bounds);
        }
        if let Some(size) = resized {
            windows.resize(windows.newest.saturating_sub(9), size);
        }
        for calls in windows.conversations.iter().map(|it| &it.calls).chain([&windows.all]) {
            prop_assert_eq!(calls.asks(), &find_asks(&windows, calls));
        }
        let failed = windows.slab.in_windows().filter(|entry| entry.outcome() == Outcome::Failed).count();
        prop_assert_eq!(windows.failed, failed);
        prop_assert!(compact::compact(&windows).is_none() || windows.released.is_empty(), "bodies would never be dropped");
        windows.take_released();
        let mut opened = compact::expand(&compact::compact(&windows).unwrap_or_default());
        prop_assert_eq!(contents(&opened), contents(&windows));
        // The same calls leave both.
        windows.drop_windows();
        opened.drop_windows();
        let (mut released, mut expected) = (opened.take_released(), windows.take_released());
        released.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(released, expected);
    }
}

#[test]
fn a_first_call_takes_few_bytes() {
    let print = Fingerprint {
        number: 1_760_000_000_000,
        time: Timestamp::from_millis(1_760_000_000_000),
        outcome: Outcome::Answered,
        tools: None,
        ..print(1)
    };
    let mut windows = Windows::default();
    windows.push(&print, Bounds { window_size: 20, max_conversations: 64 });
    let bytes = compact::compact(&windows).unwrap_or_default().len();
    assert!((40..=128).contains(&bytes), "{bytes}");
}
