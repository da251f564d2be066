use proptest::prelude::*;

use super::*;

#[test]
fn usage_is_asked_for_and_nothing_else_changes() {
    let check = |body: &str, expected: Option<&str>| {
        let asked = ask_for_usage(body.as_bytes());
        assert_eq!(asked.as_deref().map(String::from_utf8_lossy).as_deref(), expected, "{body}");
    };
    check(
        " {\"stream\": true , \"a\":1}\n",
        Some(" {\"stream_options\":{\"include_usage\":true},\"stream\": true , \"a\":1}\n"),
    );
    check(
        r#"{"stream":true,"stream_options":null}"#,
        Some(r#"{"stream":true,"stream_options":{"include_usage":true}}"#),
    );
    check(
        r#"{"stream_options":{ },"stream":true}"#,
        Some(r#"{"stream_options":{"include_usage":true },"stream":true}"#),
    );
    check(
        r#"{"stream_options":{"include_obfuscation":false},"stream":true}"#,
        Some(r#"{"stream_options":{"include_usage":true,"include_obfuscation":false},"stream":true}"#),
    );
    check(
        r#"{"stream_options":{"include_usage": false},"stream":true}"#,
        Some(r#"{"stream_options":{"include_usage": true},"stream":true}"#),
    );
    check(r#"{"stream":true,"stream_options":{"include_usage":true}}"#, None);
    check(r#"{"stream":false}"#, None);
    check(r#"{"stream":true,"stream_options":7}"#, None);
    check(r#"{"stream":true"#, None);
    check("[]", None);
}

#[test]
fn only_where_it_is_documented() {
    assert!(needs_include_usage("https://api.openai.com"));
    assert!(needs_include_usage("https://api.groq.com/openai"));
    for url in
        ["http://127.0.0.1:9", "https://openrouter.ai/api", "https://api.openai.com.evil.test", "http://api.openai.com"]
    {
        assert!(!needs_include_usage(url), "{url}");
    }
}

/// What a filter lets through of `stream`, in pieces of `size`.
fn filtered(stream: &[u8], size: usize) -> String {
    let mut filter = UsageFilter::default();
    let mut out = Vec::new();
    for piece in stream.chunks(size) {
        out.extend_from_slice(&filter.pass(piece));
    }
    out.extend_from_slice(&filter.finish(true));
    String::from_utf8_lossy(&out).into_owned()
}

/// One event, as it is without and with usage asked for.
fn any_event() -> impl Strategy<Value = (String, String)> {
    let chunk = ("[a-zé ,:{}\\[\\]]{0,12}", any::<bool>(), 0_usize..3).prop_map(|(text, spaced, shape)| {
        let plain = match shape {
            0 => format!(r#"{{"id":"x","choices":[{{"delta":{{"content":"{text}"}}}}]}}"#),
            1 => r#"{"choices":[],"prompt_filter_results":[]}"#.to_owned(),
            _ => format!(r#"{{"choices":[{{"delta":{{"content":"\"usage\":null,{text}"}},"usage":null}}]}}"#),
        };
        let added = if spaced { r#", "usage": null}"# } else { r#","usage":null}"# };
        let asked = format!("{}{added}", plain.strip_suffix('}').unwrap_or_default());
        (format!("data: {plain}"), format!("data: {asked}"))
    });
    let other = prop_oneof![Just(": ping"), Just("data: [DONE]"), Just("event: x"), Just("data: not json"), Just("")];
    prop_oneof![4 => chunk, 1 => other.prop_map(|line| (line.to_owned(), line.to_owned()))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_client_sees_what_it_would_have_seen(
        events in prop::collection::vec(any_event(), 0..6),
        at in 0_usize..7,
        end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
    ) {
        let (mut plain, mut asked) = (String::new(), String::new());
        let usage = format!("data: {{\"id\":\"x\",\"choices\":[],\"usage\":{{\"prompt_tokens\":1}}}}{end}{end}");
        for (number, (without, with)) in events.iter().enumerate() {
            if number == at {
                asked.push_str(&usage);
            }
            plain.push_str(&format!("{without}{end}{end}"));
            asked.push_str(&format!("{with}{end}{end}"));
        }
        for size in 1..=asked.len().max(1) {
            prop_assert_eq!(filtered(asked.as_bytes(), size), plain.clone(), "in pieces of {}", size);
        }
    }

    #[test]
    fn bytes_that_are_no_stream_pass(bytes: Vec<u8>, size in 1_usize..9) {
        let mut filter = UsageFilter::default();
        let mut out: Vec<u8> = bytes.chunks(size).flat_map(|piece| filter.pass(piece)).collect();
        out.extend_from_slice(&filter.finish(false));
        prop_assert_eq!(out, bytes);
    }
}

#[test]
fn the_extra_event_may_be_the_last_and_lack_its_end() {
    let stream = "data: {\"choices\":[1]}\n\ndata: {\"choices\":[],\"usage\":{}}\n";
    for size in 1..=stream.len() {
        assert_eq!(filtered(stream.as_bytes(), size), "data: {\"choices\":[1]}\n\n", "in pieces of {size}");
    }
}

#[test]
fn usage_beside_an_answer_stays() {
    // Sent unasked by some; nothing tells that it was not.
    let stream = "data: {\"choices\":[{\"delta\":{}}],\"usage\":{\"prompt_tokens\":1}}\n\n";
    assert_eq!(filtered(stream.as_bytes(), stream.len()), stream);
}

#[test]
fn whole_events_are_not_held() {
    let mut filter = UsageFilter::default();
    assert_eq!(&filter.pass(b"data: {}\n\ndata: {")[..], b"data: {}\n\n");
    assert_eq!(&filter.pass(b"}\r\n\r")[..], b"data: {}\r\n\r");
    assert_eq!(&filter.pass(b"\ndata")[..], b"\n");
    let large = vec![b'x'; MAX_EVENT];
    assert_eq!(filter.pass(&large).len(), MAX_EVENT + 4);
}
