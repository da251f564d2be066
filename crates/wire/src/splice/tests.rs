use proptest::prelude::*;

use super::usage_filter::MAX_EVENT;
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
fn include_usage_only_at_documented_hosts() {
    assert!(needs_include_usage("https://api.openai.com"));
    assert!(needs_include_usage("https://api.groq.com/openai"));
    for url in
        ["http://127.0.0.1:9", "https://openrouter.ai/api", "https://api.openai.com.evil.test", "http://api.openai.com"]
    {
        assert!(!needs_include_usage(url), "{url}");
    }
}

/// The output of a filter for `pieces`.
fn filtered_pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut filter = UsageFilter::default();
    let mut out = Vec::new();
    for piece in pieces {
        out.extend_from_slice(&filter.pass(&Bytes::copy_from_slice(piece)));
    }
    out.extend_from_slice(&filter.finish(true));
    out
}

/// The output of a filter for `stream`, in pieces of `size`.
fn filtered(stream: &[u8], size: usize) -> String {
    String::from_utf8_lossy(&filtered_pieces(stream.chunks(size))).into_owned()
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
    fn usage_filter_passes_bytes_that_are_no_stream(bytes: Vec<u8>, size in 1_usize..9) {
        let mut filter = UsageFilter::default();
        let pieces = bytes.chunks(size).map(Bytes::copy_from_slice);
        let mut out: Vec<u8> = pieces.flat_map(|piece| filter.pass(&piece)).collect();
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
    // Some providers send it unasked; the two cases cannot be distinguished.
    let stream = "data: {\"choices\":[{\"delta\":{}}],\"usage\":{\"prompt_tokens\":1}}\n\n";
    assert_eq!(filtered(stream.as_bytes(), stream.len()), stream);
}

#[test]
fn usage_filter_buffers_only_incomplete_events() {
    let mut filter = UsageFilter::default();
    let mut pass = |piece: &'static [u8]| filter.pass(&Bytes::from_static(piece));
    assert_eq!(pass(b"data: {}\n\ndata: {"), "data: {}\n\n");
    assert_eq!(pass(b"}\r\n\r"), "data: {}\r\n\r");
    assert_eq!(pass(b"\ndata"), "\n");
    let large = Bytes::from(vec![b'x'; MAX_EVENT]);
    assert_eq!(filter.pass(&large).len(), MAX_EVENT + 4);
}

/// Pieces of streams, including every kind of line end.
fn any_piece() -> impl Strategy<Value = Vec<u8>> {
    let fixed: [&[u8]; 14] = [
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\r\r",
        b"\n\r",
        b"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1}}",
        b"data: {\"choices\":[{}],\"usage\":null}",
        b"data:{\"usage\":null,\"choices\":[{}]}",
        b"data: {\"usage\":null}",
        b": ping",
        b"data: [DONE]",
        b"\xff\"usage\"",
        b" ",
    ];
    prop_oneof![
        8 => prop::sample::select(fixed.map(<[u8]>::to_vec).to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ]
}

proptest! {
    #[test]
    fn a_stream_is_filtered_alike_however_it_is_cut(
        pieces in prop::collection::vec(any_piece(), 0..40),
        mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let stream = pieces.concat();
        let mut places: Vec<usize> = cuts.drain(..).map(|cut| cut.index(stream.len() + 1)).collect();
        places.sort_unstable();
        let bounds: Vec<usize> = [0].into_iter().chain(places).chain([stream.len()]).collect();
        let cut = filtered_pieces(bounds.windows(2).map(|bounds| &stream[bounds[0]..bounds[1]]));
        let whole = filtered_pieces([&stream[..]]);
        prop_assert_eq!(&cut, &whole);
        prop_assert_eq!(filtered_pieces(stream.chunks(1)), whole);
    }
}

#[test]
fn an_event_that_is_too_large_passes_alike_however_it_is_cut() {
    let usage = r#"data: {"choices":[],"usage":{}}"#;
    let stream = format!("{usage}\n\n: {}\n{usage}\r\n\r\n{usage}\n\ndata: x\n\n", "x".repeat(MAX_EVENT));
    let kept = format!(": {}\n{usage}\r\n\r\ndata: x\n\n", "x".repeat(MAX_EVENT));
    for size in [1, 7, 4096, MAX_EVENT - 1, MAX_EVENT, MAX_EVENT + 1, stream.len()] {
        assert!(filtered(stream.as_bytes(), size) == kept, "in pieces of {size}");
    }
}

#[test]
fn usage_filter_takes_linear_time_for_line_ends() {
    let stream = Bytes::from(vec![b'\n'; 4 << 20]);
    let mut filter = UsageFilter::default();
    let passed = filter.pass(&stream);
    assert_eq!((passed.len(), passed.as_ptr()), (stream.len(), stream.as_ptr()), "not even copied");
}

#[test]
fn usage_filter_loses_nothing_when_a_pass_fails() {
    let mut filter = UsageFilter::default();
    assert_eq!(filter.pass(&Bytes::from_static(b"data: {\"a\":")), "");
    // The state of a pass that failed in the middle of its first event.
    filter.held_before = filter.held.len();
    filter.held.extend_from_slice(b"1}\n\n");
    assert_eq!(filter.give_up(), "data: {\"a\":");
    assert_eq!(filter.finish(true), "");
}
