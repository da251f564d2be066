//! Errors inside a stream whose provider died.

use wire::{AnswerReader, Dialect};

use crate::answers::headers;
use crate::streams::{GEMINI_ARRAY, STREAMS};

/// The bytes that a client gets if its provider dies after `sent`.
fn stream_error(dialect: Dialect, content_type: &str, sent: &str) -> Option<String> {
    let mut reader = AnswerReader::new(dialect, &headers(content_type), 1 << 20);
    reader.feed(sent.as_bytes());
    let message = "The provider closed the connection before the answer was complete.";
    reader.stream_error(message).map(|error| String::from_utf8_lossy(&error).into_owned())
}

#[test]
fn stream_error_is_written_in_every_dialect() {
    let sections = [
        ("chat", Dialect::ChatCompletions, "text/event-stream", ""),
        ("messages", Dialect::Messages, "text/event-stream", "data: {\"broken"),
        (
            "responses",
            Dialect::Responses,
            "text/event-stream",
            "data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n",
        ),
        ("gemini", Dialect::Gemini, "text/event-stream", ""),
        ("gemini array", Dialect::Gemini, "application/json", "[{}\n"),
        ("ollama", Dialect::Ollama, "application/x-ndjson", "{\"message\":"),
        ("cohere", Dialect::Cohere, "text/event-stream", ""),
    ]
    .map(|(name, dialect, content_type, sent)| {
        format!("# {name}\n\n{}\n", stream_error(dialect, content_type, sent).unwrap())
    });
    insta::assert_snapshot!(sections.join("\n"));
}

#[test]
fn no_error_is_written_where_bytes_cannot_follow() {
    assert_eq!(stream_error(Dialect::Gemini, "application/json", "[{\"candidates\":["), None);
    assert_eq!(stream_error(Dialect::Gemini, "application/json", "[{}]"), None);
    assert_eq!(stream_error(Dialect::ChatCompletions, "application/json", "{\"choices\":["), None);
}

#[test]
fn a_client_reads_the_error_wherever_the_stream_broke() {
    for (dialect, content_type, stream) in STREAMS {
        for at in 0..stream.len() {
            let mut reader = AnswerReader::new(dialect, &headers(content_type), 1 << 20);
            reader.feed(&stream.as_bytes()[..at]);
            // No error can be inserted into an element of an array; the connection breaks instead.
            // The first byte of a body shows whether it is an array.
            let Some(error) = reader.stream_error("died") else {
                assert_eq!(content_type, "application/json");
                continue;
            };
            reader.feed(&error);
            let answer = reader.finish();
            assert_eq!(answer.error.as_deref(), Some("died"), "{dialect:?} cut at {at}");
            assert!(!answer.complete);
        }
    }
}

#[test]
fn a_broken_event_of_another_dialect_hides_no_error() {
    for dialect in Dialect::ALL {
        for broken in [
            r#"{"choices":["#,
            r#"{"type":"message_start","#,
            r#"{"candidates":"#,
            r#"{"type":"message-end","#,
            // Valid, but without the empty line that ends an event.
            r#"{"choices":[]}"#,
            r#"{"type":"message_start","message":{}}"#,
            r#"{"type":"response.created"}"#,
            r#"{"candidates":[]}"#,
            r#"{"done":false}"#,
            r#"{"contentBlockIndex":0}"#,
            r#"{"type":"message-start"}"#,
        ] {
            let mut reader = AnswerReader::new(dialect, &headers("text/event-stream"), 1 << 20);
            reader.feed(format!("data: {broken}").as_bytes());
            let error = reader.stream_error("died").unwrap();
            reader.feed(&error);
            assert_eq!(reader.finish().error.as_deref(), Some("died"), "{dialect:?} after {broken}");
        }
    }
}

#[test]
fn an_array_stays_valid_json_wherever_it_broke() {
    let mut told = 0;
    for at in 1..GEMINI_ARRAY.trim_end().len() {
        // The text cannot be cut inside its one character of two bytes.
        let Some(sent) = GEMINI_ARRAY.get(..at) else { continue };
        let Some(error) = stream_error(Dialect::Gemini, "application/json", sent) else { continue };
        let array: Vec<serde_json::Value> = serde_json::from_str(&format!("{sent}{error}")).expect(sent);
        assert!(array.last().unwrap()["error"]["message"].is_string());
        told += 1;
    }
    assert!(told > 4, "before the first element, between the two, and after the second: {told}");
}
