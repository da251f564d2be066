//! How refusals look to clients.

use bytes::Bytes;
use http::{Response, StatusCode};
use model::{AgentId, CallId, DeactivatedBy, Deactivation, Format, IncidentId, NanoUsd, Timestamp};
use proptest::prelude::*;
use wire::{AnswerReader, Dialect, Fault, Refusal, RefusalKind, refuse};

use crate::answers::headers;
use crate::streams::{GEMINI_ARRAY, STREAMS};

const FORMATS: [Format; 4] = [Format::Openai, Format::Anthropic, Format::Gemini, Format::Ollama];

fn refusal(kind: RefusalKind) -> Refusal {
    let call = CallId("019a0000-0000-7000-8000-000000000001".parse().unwrap());
    Refusal { call, agent: Some(AgentId::parse("my-agent").unwrap()), kind }
}

fn inactive(by: DeactivatedBy) -> Refusal {
    let incident = IncidentId("019a0000-0000-7000-8000-000000000002".parse().unwrap());
    let incident = (by == DeactivatedBy::KillSwitch).then_some(incident);
    let deactivation = Deactivation { by, at: Timestamp::from_millis(1_705_314_600_000), incident };
    refusal(RefusalKind::Inactive { deactivation, status: StatusCode::BAD_REQUEST })
}

fn error(fault: Fault, status: u16, message: &str) -> Refusal {
    let status = StatusCode::from_u16(status).unwrap();
    refusal(RefusalKind::Error { fault, status, message: message.to_owned() })
}

/// Status, headers and body as a person reads them.
fn shown(response: &Response<Bytes>) -> String {
    let mut headers: Vec<String> =
        response.headers().iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
    headers.sort();
    let body: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
    format!("{}\n{}\n\n{}", response.status(), headers.join("\n"), serde_json::to_string_pretty(&body).unwrap())
}

fn check(name: &str, refusal: &Refusal) {
    for format in FORMATS {
        insta::assert_snapshot!(format!("{name}_{format}"), shown(&refuse(format, refusal)));
    }
}

#[test]
fn a_killed_agent() {
    check("killed", &inactive(DeactivatedBy::KillSwitch));
}

#[test]
fn an_agent_that_a_person_deactivated() {
    check("deactivated_by_hand", &inactive(DeactivatedBy::Manual));
}

#[test]
fn a_loop() {
    check("loop_detected", &refusal(RefusalKind::LoopDetected { retry_after_seconds: 240 }));
}

fn policies() -> [(&'static str, Refusal); 5] {
    let status = StatusCode::BAD_REQUEST;
    let limit = NanoUsd::new(5_000_000_000);
    let exceeded = |budget, retry_after_seconds| {
        refusal(RefusalKind::BudgetExceeded { budget, limit, retry_after_seconds, status })
    };
    [
        ("outside_hours", refusal(RefusalKind::OutsideHours { time_zone: "Europe/Berlin".to_owned(), status })),
        ("budget_exceeded", exceeded("daily", Some(7200))),
        ("budget_exceeded_for_good", exceeded("conversation", None)),
        ("budget_held", refusal(RefusalKind::BudgetHeld { retry_after_seconds: 30 })),
        ("rate_limited", refusal(RefusalKind::RateLimited { retry_after_seconds: 17 })),
    ]
}

#[test]
fn a_policy() {
    policies().iter().for_each(|(name, refusal)| check(name, refusal));
}

#[test]
fn an_error_of_the_client_and_of_the_provider() {
    check("unknown_provider", &error(Fault::Client, 404, "There is no provider 'opnai'."));
    check("provider_failed", &error(Fault::Provider, 502, "The provider could not be reached."));
}

#[test]
fn only_what_a_provider_did_wrong_is_worth_another_try() {
    let check = |fault, status, code, retry: Option<&str>| {
        let response = refuse(Format::Openai, &error(fault, status, "So it is."));
        let body: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!(body["error"]["code"], code, "{status}");
        let header = response.headers().get("x-should-retry").map(|value| value.to_str().unwrap());
        assert_eq!(header, retry, "{status}");
    };
    check(Fault::Client, 404, "request_refused", Some("false"));
    check(Fault::Client, 501, "request_refused", Some("false"));
    check(Fault::Provider, 502, "provider_failed", None);
    check(Fault::Provider, 504, "provider_failed", None);
    check(Fault::Proxy, 500, "proxy_failed", Some("false"));
    check(Fault::Proxy, 503, "proxy_failed", Some("false"));
}

#[test]
fn no_message_holds_a_word_that_clients_act_upon() {
    let words = ["overloaded", "too long", "context", "api key", "content filter", "quota", "rate limit", "capacity"];
    let loop_detected = refusal(RefusalKind::LoopDetected { retry_after_seconds: 240 });
    let others = [inactive(DeactivatedBy::KillSwitch), inactive(DeactivatedBy::Manual), loop_detected];
    for refusal in policies().into_iter().map(|(_, refusal)| refusal).chain(others) {
        for format in FORMATS {
            let body = String::from_utf8(refuse(format, &refusal).into_body().to_vec()).unwrap().to_lowercase();
            assert!(!words.iter().any(|word| body.contains(word)), "{body}");
        }
    }
}

/// Where clients look for the digits of a status, whatever the status is.
const RETRYABLE: [&str; 6] = ["429", "500", "502", "503", "504", "524"];

/// What a client of `format` shows.
fn message(format: Format, refusal: &Refusal) -> String {
    let body: serde_json::Value = serde_json::from_slice(refuse(format, refusal).body()).unwrap();
    let message = if format == Format::Ollama { &body["error"] } else { &body["error"]["message"] };
    message.as_str().unwrap().to_owned()
}

proptest! {
    #[test]
    fn no_message_holds_the_digits_of_a_retryable_status(
        call in any::<u128>(),
        incident in any::<u128>(),
        // Up to the year 9999.
        millis in 0..253_402_300_799_999i64,
        agent in "[a-z0-9][a-z0-9._:@-]{0,40}",
        number in prop_oneof![any::<u64>(), (0..RETRYABLE.len()).prop_map(|at| RETRYABLE[at].parse().unwrap())],
        by_hand in any::<bool>(),
    ) {
        let status = StatusCode::BAD_REQUEST;
        let by = if by_hand { DeactivatedBy::Manual } else { DeactivatedBy::KillSwitch };
        let incident = Some(IncidentId(format!("{incident:032x}").parse().unwrap()));
        let deactivation = Deactivation { by, at: Timestamp::from_millis(millis), incident };
        let limit = NanoUsd::new(i64::try_from(number >> 1).unwrap());
        let said = format!("the proxy takes request bodies of at most {number} bytes, and this one has more");
        let kinds = [
            RefusalKind::Inactive { deactivation, status },
            RefusalKind::OutsideHours { time_zone: "Etc/GMT-14".to_owned(), status },
            RefusalKind::BudgetExceeded { budget: "daily", limit, retry_after_seconds: Some(number), status },
            RefusalKind::Error { fault: Fault::Client, status, message: said },
        ];
        for (kind, format) in kinds.into_iter().flat_map(|kind| FORMATS.map(|format| (kind.clone(), format))) {
            let agent = Some(AgentId::parse(&agent).unwrap());
            let shown = message(format, &Refusal { call: CallId(format!("{call:032x}").parse().unwrap()), agent, kind });
            prop_assert!(!RETRYABLE.iter().any(|status| shown.contains(status)), "{shown}");
        }
    }
}

#[test]
fn an_agent_is_not_named_where_its_name_would_be_taken_for_a_status() {
    let mut refusal = inactive(DeactivatedBy::KillSwitch);
    refusal.agent = Some(AgentId::parse("worker-500").unwrap());
    let shown = message(Format::Openai, &refusal);
    assert!(shown.starts_with("This agent was deactivated") && shown.contains("`agentgazer activate NAME`"), "{shown}");
    let body: serde_json::Value = serde_json::from_slice(refuse(Format::Openai, &refusal).body()).unwrap();
    assert_eq!(body["agent_id"], "worker-500");
}

#[test]
fn the_status_of_an_inactive_agent_is_a_setting() {
    let mut refusal = inactive(DeactivatedBy::Manual);
    let RefusalKind::Inactive { status, .. } = &mut refusal.kind else { unreachable!() };
    *status = StatusCode::FORBIDDEN;
    assert_eq!(refuse(Format::Openai, &refusal).status(), StatusCode::FORBIDDEN);
}

/// What a client gets after `sent`, if its provider dies there.
fn last_words(dialect: Dialect, content_type: &str, sent: &str) -> Option<String> {
    let mut reader = AnswerReader::new(dialect, &headers(content_type), 1 << 20);
    reader.feed(sent.as_bytes());
    let message = "The provider closed the connection before the answer was complete.";
    reader.last_words(message).map(|words| String::from_utf8_lossy(&words).into_owned())
}

#[test]
fn the_end_of_a_stream_whose_provider_died() {
    for (name, dialect, content_type, sent) in [
        ("chat", Dialect::ChatCompletions, "text/event-stream", ""),
        ("messages", Dialect::Messages, "text/event-stream", "data: {\"broken"),
        (
            "responses",
            Dialect::Responses,
            "text/event-stream",
            "data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n",
        ),
        ("gemini", Dialect::Gemini, "text/event-stream", ""),
        ("gemini_array", Dialect::Gemini, "application/json", "[{}\n"),
        ("ollama", Dialect::Ollama, "application/x-ndjson", "{\"message\":"),
    ] {
        insta::assert_snapshot!(format!("last_words_{name}"), last_words(dialect, content_type, sent).unwrap());
    }
}

#[test]
fn where_nothing_can_follow_nothing_is_said() {
    assert_eq!(last_words(Dialect::Gemini, "application/json", "[{\"candidates\":["), None);
    assert_eq!(last_words(Dialect::Gemini, "application/json", "[{}]"), None);
    assert_eq!(last_words(Dialect::ChatCompletions, "application/json", "{\"choices\":["), None);
}

#[test]
fn a_client_reads_the_error_wherever_the_stream_broke() {
    for (dialect, content_type, stream) in STREAMS {
        for at in 0..stream.len() {
            let mut reader = AnswerReader::new(dialect, &headers(content_type), 1 << 20);
            reader.feed(&stream.as_bytes()[..at]);
            // In the middle of an array's element only the connection can break. A body shows with its first byte that it
            // is an array.
            let Some(words) = reader.last_words("died") else {
                assert_eq!(content_type, "application/json");
                continue;
            };
            reader.feed(&words);
            let answer = reader.finish();
            assert_eq!(answer.error.as_deref(), Some("died"), "{dialect:?} cut at {at}");
            assert!(!answer.complete);
        }
    }
}

#[test]
fn an_array_stays_valid_json_wherever_it_broke() {
    let mut told = 0;
    for at in 1..GEMINI_ARRAY.trim_end().len() {
        // Inside of the one character that has two bytes no text ends.
        let Some(sent) = GEMINI_ARRAY.get(..at) else { continue };
        let Some(words) = last_words(Dialect::Gemini, "application/json", sent) else { continue };
        let array: Vec<serde_json::Value> = serde_json::from_str(&format!("{sent}{words}")).expect(sent);
        assert!(array.last().unwrap()["error"]["message"].is_string());
        told += 1;
    }
    assert!(told > 4, "before the first element, between the two, and after the second: {told}");
}
