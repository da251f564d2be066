use super::*;
use crate::{decode_fingerprint, encode_fingerprint};
use model::{Novelty, ResponsePrint, ResultPrint, StepKind, ToolStep, WordSet};
use proptest::prelude::*;
use uuid::Uuid;

prop_compose! {
    fn any_fingerprint()(
        call in any::<u128>(),
        (number, conversation, body) in any::<(u64, u64, u64)>(),
        time in any::<i64>(),
        (prompt, prompt_is_short) in any::<(Option<u64>, bool)>(),
        (message, position) in any::<(u64, u32)>(),
        (depth, newest) in any::<(u32, u64)>(),
        tools in any::<Option<(u64, u64, u32, i16, bool, bool)>>(),
        response in any::<Option<(u64, u64, bool)>>(),
        outcome in prop::sample::select(vec![Outcome::Pending, Outcome::Answered, Outcome::Failed, Outcome::Refused]),
        (is_sample, silence) in any::<(bool, u16)>(),
        (prompt_is_error, prompt_is_common) in any::<(bool, bool)>(),
        novelty in prop::sample::select(vec![Novelty::Neutral, Novelty::Stale, Novelty::Changed, Novelty::Idle]),
        wording in prop::sample::select(vec![0, 1, u32::MAX]),
        kind in prop::sample::select(vec![StepKind::Other, StepKind::Look, StepKind::Change, StepKind::Wait]),
    ) -> Fingerprint {
        Fingerprint {
            call: CallId(Uuid::from_u128(call)),
            number,
            time: Timestamp::from_millis(time),
            conversation: ConversationId(conversation),
            body,
            prompt: prompt.map(TextHash),
            prompt_is_short,
            prompt_is_error,
            prompt_is_common,
            turn: Turn { message, position },
            step: Step { depth, newest },
            tools: tools.map(|(literal, adaptive, shape, number, is_error, is_written)| ToolStep {
                literal,
                adaptive,
                result: ResultPrint {
                    shape,
                    kept: shape.rotate_left(7),
                    gist: !shape,
                    numbers: [f32::from(number), 0.5, -1.0],
                    is_empty: is_error,
                    is_short: !is_error,
                },
                kind,
                is_error,
                is_written,
                wording: WordSet(wording),
            }),
            response: response.map(|(literal, adaptive, is_short)| ResponsePrint {
                literal: TextHash(literal),
                adaptive: TextHash(adaptive),
                is_short,
                remark: (literal % 16) as u8,
            }),
            outcome,
            is_sample,
            silence,
            novelty,
        }
    }
}

proptest! {
    #[test]
    fn fingerprint_survives_encoding(fingerprint in any_fingerprint()) {
        let bytes = encode_fingerprint(&fingerprint);
        prop_assert!(bytes.len() <= 154);
        prop_assert_eq!(decode_fingerprint(&bytes), Some(fingerprint));
    }

    #[test]
    fn damaged_fingerprint_decodes_to_none(fingerprint in any_fingerprint(), cut in 0_usize..150, extra in any::<u8>()) {
        let mut bytes = encode_fingerprint(&fingerprint);
        prop_assert_eq!(decode_fingerprint(&bytes[..cut.min(bytes.len() - 1)]), None);
        bytes.push(extra);
        prop_assert_eq!(decode_fingerprint(&bytes), None);
    }

    #[test]
    fn fingerprint_decoder_accepts_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode_fingerprint(&bytes);
    }
}

#[test]
fn fingerprint_of_an_unknown_version_is_not_decoded() {
    let mut bytes = encode_fingerprint(&fingerprint(CallId::new(), 1));
    bytes[0] = 5;
    assert_eq!(decode_fingerprint(&bytes), None);
}

/// Replicas of the previous version can read it.
#[test]
fn fingerprint_without_a_wording_has_the_previous_version() {
    let mut written = fingerprint(CallId::new(), 1);
    assert_eq!(encode_fingerprint(&written)[0], 3);
    let result = ResultPrint::default();
    let step = ToolStep {
        literal: 1,
        adaptive: 2,
        result,
        kind: StepKind::Look,
        is_error: false,
        is_written: false,
        wording: WordSet(0),
    };
    written.tools = Some(step);
    assert_eq!(encode_fingerprint(&written)[0], 3);
    written.tools = Some(ToolStep { wording: WordSet(5), ..step });
    assert_eq!(encode_fingerprint(&written)[0], 4);
}

#[test]
fn fingerprint_of_the_first_version_is_decoded() {
    let written = fingerprint(CallId::new(), 1);
    let mut bytes = encode_fingerprint(&written);
    // Without the silence, and without the second byte of flags.
    bytes[0] = 1;
    bytes.drain(36..38);
    bytes.remove(2);
    assert_eq!(decode_fingerprint(&bytes), Some(written));
}
