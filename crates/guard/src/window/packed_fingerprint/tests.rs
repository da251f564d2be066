//! Tests of packing.

use super::*;
use proptest::prelude::*;

pub(in crate::window) fn prints() -> impl Strategy<Value = Fingerprint> {
    let hashes = || any::<u64>().prop_map(TextHash);
    let tools = any::<(u64, u64, u32, u32, i16, bool, bool)>().prop_map(
        |(literal, adaptive, shape, kept, number, is_error, is_written)| {
            let numbers = [f32::from(number), 0.5, -1.0];
            let result = ResultPrint { shape, kept, gist: kept ^ 1, numbers, is_empty: is_written, is_short: is_error };
            ToolStep {
                literal,
                adaptive,
                result,
                kind: StepKind::from_repr((shape % 6) as u8).unwrap_or_default(),
                is_error,
                is_written,
                wording: WordSet(shape.rotate_left(7)),
            }
        },
    );
    let response = (hashes(), hashes(), any::<bool>()).prop_map(|(literal, adaptive, is_short)| ResponsePrint {
        literal,
        adaptive,
        is_short,
        remark: (literal.0 % 16) as u8,
    });
    let known = (prop::option::of(hashes()), any::<bool>(), prop::option::of(tools), prop::option::of(response));
    let numbers = (0..1_u64 << 43, any::<i64>(), any::<u64>(), any::<u64>(), any::<u32>(), any::<u32>());
    (known, numbers, 0..4_u8).prop_map(|(known, numbers, outcome)| Fingerprint {
        call: CallId::new(),
        number: numbers.0,
        time: Timestamp::from_millis(numbers.1),
        conversation: ConversationId(numbers.2),
        body: numbers.3,
        prompt: known.0,
        prompt_is_short: known.1,
        prompt_is_error: numbers.4 % 2 == 0,
        prompt_is_common: numbers.4 % 3 == 0,
        turn: Turn { message: numbers.3, position: numbers.4 },
        step: Step { depth: numbers.5, newest: numbers.2 },
        tools: known.2,
        response: known.3,
        outcome: Outcome::from_repr(outcome).unwrap_or(Outcome::Pending),
        is_sample: known.1,
        silence: numbers.4 as u16,
        novelty: Novelty::from_repr((numbers.5 % 7) as u8).unwrap_or_default(),
    })
}

proptest! {
    #[test]
    fn packing_loses_nothing(print in prints(), other in prints()) {
        let mut entry = PackedFingerprint::from(&print);
        prop_assert_eq!(Fingerprint::from(&entry), print);
        entry.enter_window();
        entry.enter_window();
        entry.update(&other);
        prop_assert_eq!(Fingerprint::from(&entry), other);
        prop_assert!(!entry.leave_window());
        prop_assert!(entry.leave_window());
    }

    #[test]
    fn parts_lose_nothing(print in prints()) {
        let entry = PackedFingerprint::from(&print);
        prop_assert_eq!(Fingerprint::from(&PackedFingerprint::from(entry.parts())), print);
    }
}

#[test]
fn a_packed_fingerprint_takes_144_bytes() {
    assert_eq!(size_of::<PackedFingerprint>(), 144);
}
