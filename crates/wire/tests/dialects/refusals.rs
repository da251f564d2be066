//! How refusals look to clients.

use bytes::Bytes;
use http::{Response, StatusCode};
use model::{AgentId, CallId, DeactivatedBy, Deactivation, Format, IncidentId, Timestamp};
use wire::{AnswerReader, Dialect, Refusal, RefusalKind, refuse, stream_error};

use crate::answers::headers;

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

fn error(status: u16, message: &str) -> Refusal {
    let status = StatusCode::from_u16(status).unwrap();
    refusal(RefusalKind::Error { status, message: message.to_owned() })
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
    check("loop_detected", &refusal(RefusalKind::LoopDetected { retry_after_seconds: 60 }));
}

#[test]
fn an_error_of_the_client_and_of_the_provider() {
    check("unknown_provider", &error(404, "There is no provider 'opnai'."));
    check("provider_failed", &error(502, "The provider could not be reached."));
}

#[test]
fn no_message_holds_a_word_that_clients_act_upon() {
    let words = ["overloaded", "too long", "context", "api key", "content filter", "quota", "rate limit", "capacity"];
    let loop_detected = refusal(RefusalKind::LoopDetected { retry_after_seconds: 60 });
    for refusal in [inactive(DeactivatedBy::KillSwitch), inactive(DeactivatedBy::Manual), loop_detected] {
        for format in FORMATS {
            let body = String::from_utf8(refuse(format, &refusal).into_body().to_vec()).unwrap().to_lowercase();
            assert!(!words.iter().any(|word| body.contains(word)), "{body}");
        }
    }
}

#[test]
fn the_status_of_an_inactive_agent_is_a_setting() {
    let mut refusal = inactive(DeactivatedBy::Manual);
    let RefusalKind::Inactive { status, .. } = &mut refusal.kind else { unreachable!() };
    *status = StatusCode::FORBIDDEN;
    assert_eq!(refuse(Format::Openai, &refusal).status(), StatusCode::FORBIDDEN);
}

#[test]
fn the_end_of_a_stream_whose_provider_died() {
    let message = "The provider closed the connection before the answer was complete.";
    insta::assert_snapshot!(
        "stream_error_chat",
        String::from_utf8_lossy(&stream_error(Dialect::ChatCompletions, message, true))
    );
    insta::assert_snapshot!(
        "stream_error_messages",
        String::from_utf8_lossy(&stream_error(Dialect::Messages, message, false))
    );
}

#[test]
fn a_client_reads_the_error_after_half_an_event() {
    for dialect in [Dialect::ChatCompletions, Dialect::Messages] {
        for half in ["", "data: {\"cho", "data: {}\n", "data: {}\n\n"] {
            let mut reader = AnswerReader::new(dialect, &headers("text/event-stream"), 1 << 20);
            reader.feed(half.as_bytes());
            let clean = reader.ends_between_events();
            reader.feed(&stream_error(dialect, "died", clean));
            let answer = reader.finish();
            assert_eq!(answer.error.as_deref(), Some("died"), "{half:?}");
            assert!(!answer.complete);
        }
    }
}
