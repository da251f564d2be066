//! Answers read the same however they are sliced, and reading arbitrary bytes never fails.

use proptest::prelude::*;
use wire::{Answer, AnswerReader, Dialect, read_request};

use crate::answers::headers;
use crate::streams::STREAMS;

fn read<'a>(dialect: Dialect, content_type: &str, slices: impl IntoIterator<Item = &'a [u8]>) -> Answer {
    let mut reader = AnswerReader::new(dialect, &headers(content_type), 1 << 16);
    slices.into_iter().for_each(|slice| reader.feed(slice));
    reader.finish()
}

/// `bytes` cut at these places.
fn cut<'a>(bytes: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    places.sort_unstable();
    places.push(bytes.len());
    let mut start = 0;
    places.into_iter().map(|end| &bytes[std::mem::replace(&mut start, end)..end]).collect()
}

#[test]
fn a_stream_cut_at_every_offset_reads_the_same() {
    for (dialect, content_type, stream) in STREAMS {
        let mut variants = vec![stream.to_owned(), stream.replace("\r\n", "\n").replace('\n', "\r\n")];
        // Only events may end their lines with a carriage return alone.
        if content_type == "text/event-stream" {
            variants.push(stream.replace("\r\n", "\n").replace('\n', "\r"));
        }
        for stream in variants {
            let whole = read(dialect, content_type, [stream.as_bytes()]);
            assert!(whole.complete, "{dialect:?}");
            for at in 0..=stream.len() {
                let (left, right) = stream.as_bytes().split_at(at);
                assert_eq!(read(dialect, content_type, [left, right]), whole, "{dialect:?} cut at {at}");
            }
        }
    }
}

/// JSON-like bytes: random ones never get past the first token.
fn tokens() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&str> = vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\\u12",
        "\\ud800",
        "null",
        "true",
        "-1e5",
        "99999999999999999999",
        " ",
        "\n",
        "\r",
        "\"messages\":",
        "\"role\":",
        "\"user\"",
        "\"assistant\"",
        "\"tool\"",
        "\"content\":",
        "\"type\":",
        "\"text\"",
        "\"text\":",
        "\"tool_result\"",
        "\"tool_use\"",
        "\"tool_calls\":",
        "\"function\":",
        "\"choices\":",
        "\"delta\":",
        "\"index\":",
        "\"content_block_delta\"",
        "\"partial_json\":",
        "\"input\":",
        "\"prompt\":",
        "\"contents\":",
        "\"parts\":",
        "\"functionCall\":",
        "\"functionResponse\":",
        "\"function_call\"",
        "\"function_call_output\"",
        "\"output\":",
        "\"candidates\":",
        "\"response\":",
        "\"response.output_item.done\"",
        "\"item\":",
        "\"message\":",
        "\"done\":",
        "data: ",
        "data",
        "event: x",
        "[DONE]",
        "\u{feff}",
        "é",
        "\u{1}",
    ];
    prop::collection::vec(prop::sample::select(words), 0..80).prop_map(|words| words.concat().into_bytes())
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![tokens(), prop::collection::vec(any::<u8>(), 0..400)]
}

proptest! {
    #[test]
    fn a_stream_cut_anywhere_reads_the_same(places: Vec<prop::sample::Index>) {
        for (dialect, content_type, stream) in STREAMS {
            let whole = read(dialect, content_type, [stream.as_bytes()]);
            prop_assert_eq!(read(dialect, content_type, cut(stream.as_bytes(), &places)), whole);
        }
    }

    #[test]
    fn any_bytes_cut_anywhere_read_the_same(bytes in bytes(), places: Vec<prop::sample::Index>) {
        for dialect in Dialect::ALL {
            for content_type in ["text/event-stream", "application/x-ndjson", "application/json"] {
                let whole = read(dialect, content_type, [&bytes[..]]);
                prop_assert_eq!(read(dialect, content_type, cut(&bytes, &places)), whole);
            }
        }
    }

    #[test]
    fn any_body_is_read_or_left_unread(bytes in bytes()) {
        for dialect in Dialect::ALL {
            let _ = read_request(dialect, &bytes);
        }
    }

    #[test]
    fn a_damaged_body_is_read_or_left_unread(at: prop::sample::Index, damage in tokens()) {
        let mut body = br#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a\n"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"r"}]}"#.to_vec();
        let place = at.index(body.len());
        body.splice(place..place, damage);
        for dialect in Dialect::ALL {
            let _ = read_request(dialect, &body);
        }
    }
}
