//! How refusals look to clients.

use bytes::Bytes;
use http::{Response, StatusCode};
use model::{AgentId, CallId, DeactivatedBy, Deactivation, Format, IncidentId, KeyRefusal, NanoUsd, Timestamp};
use proptest::prelude::*;
use wire::{Fault, Refusal, RefusalKind, refuse};

const FORMATS: [Format; 4] = [Format::Openai, Format::Anthropic, Format::Gemini, Format::Ollama];

fn refusal(kind: RefusalKind) -> Refusal {
    let call = CallId("019a0000-0000-7000-8000-000000000001".parse().unwrap());
    Refusal { call, agent: Some(AgentId::parse("my-agent").unwrap()), kind }
}

fn inactive(by: DeactivatedBy) -> Refusal {
    let incident = IncidentId("019a0000-0000-7000-8000-000000000002".parse().unwrap());
    let incident = (by == DeactivatedBy::KillSwitch).then_some(incident);
    let deactivation = Deactivation { by, at: Timestamp::from_millis(1_705_314_600_000), incident };
    refusal(RefusalKind::Inactive { deactivation, group: None, status: StatusCode::BAD_REQUEST })
}

fn error(fault: Fault, status: u16, message: &str) -> Refusal {
    let status = StatusCode::from_u16(status).unwrap();
    refusal(RefusalKind::Error { fault, status, message: message.to_owned() })
}

fn unauthorized(why: KeyRefusal) -> Refusal {
    let agents = (why == KeyRefusal::OtherAgent).then(|| "team-a/*".to_owned());
    Refusal { agent: None, ..refusal(RefusalKind::Unauthorized { why, agents }) }
}

#[test]
fn mistyped_and_unknown_agent_keys_get_the_same_answer() {
    for format in FORMATS {
        let [mistyped, unknown] =
            [KeyRefusal::Malformed, KeyRefusal::Unknown].map(|why| refuse(format, &unauthorized(why)));
        assert_eq!((mistyped.headers(), mistyped.body()), (unknown.headers(), unknown.body()));
    }
}

/// Status, headers and body as a person reads them.
fn shown(response: &Response<Bytes>) -> String {
    let mut headers: Vec<String> =
        response.headers().iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
    headers.sort();
    let body: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
    format!("{}\n{}\n\n{}", response.status(), headers.join("\n"), serde_json::to_string_pretty(&body).unwrap())
}

/// Every refusal with the name it has in a snapshot.
fn refusals() -> Vec<(&'static str, Refusal)> {
    let [outside_hours, exceeded, exceeded_for_good, held, rate_limited] = policies();
    vec![
        ("killed", inactive(DeactivatedBy::KillSwitch)),
        ("deactivated by hand", inactive(DeactivatedBy::Manual)),
        ("loop detected", refusal(RefusalKind::LoopDetected { retry_after_seconds: 240 })),
        ("outside hours", outside_hours),
        ("budget exceeded", exceeded),
        ("budget exceeded for good", exceeded_for_good),
        ("budget held", held),
        ("rate limited", rate_limited),
        ("without agent key", unauthorized(KeyRefusal::Missing)),
        ("wrong agent key", unauthorized(KeyRefusal::Unknown)),
        ("agent key of another agent", unauthorized(KeyRefusal::OtherAgent)),
        ("unknown provider", error(Fault::Client, 404, "There is no provider 'opnai'.")),
        ("provider failed", error(Fault::Provider, 502, "The provider could not be reached.")),
    ]
}

/// All refusals of one format in one snapshot, so that they are read side by side.
fn check(format: Format) {
    let sections = refusals().into_iter().map(|(name, refusal)| {
        let response = refuse(format, &refusal);
        format!("# {name}\n\n{}\n", shown(&response))
    });
    insta::assert_snapshot!(format!("{format}"), sections.collect::<Vec<_>>().join("\n"));
}

#[test]
fn openai_refusals() {
    check(Format::Openai);
}

#[test]
fn anthropic_refusals() {
    check(Format::Anthropic);
}

#[test]
fn gemini_refusals() {
    check(Format::Gemini);
}

#[test]
fn ollama_refusals() {
    check(Format::Ollama);
}

fn policies() -> [Refusal; 5] {
    let status = StatusCode::BAD_REQUEST;
    let limit = NanoUsd::new(5_000_000_000);
    let exceeded = |budget, retry_after_seconds| {
        refusal(RefusalKind::BudgetExceeded { budget, group: None, limit, retry_after_seconds, status })
    };
    [
        refusal(RefusalKind::OutsideHours { time_zone: "Europe/Berlin".to_owned(), group: None, status }),
        exceeded("daily", Some(7200)),
        exceeded("conversation", None),
        refusal(RefusalKind::BudgetHeld { retry_after_seconds: 30 }),
        refusal(RefusalKind::RateLimited { retry_after_seconds: 17, group: None }),
    ]
}

#[test]
fn only_provider_failures_are_retryable() {
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
    for (_, refusal) in refusals() {
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
            RefusalKind::Inactive { deactivation, group: None, status },
            RefusalKind::Inactive { deactivation, group: Some("team-a".to_owned()), status },
            RefusalKind::OutsideHours { time_zone: "Etc/GMT-14".to_owned(), group: None, status },
            RefusalKind::BudgetExceeded { budget: "daily", group: Some(agent.clone()), limit, retry_after_seconds: Some(number), status },
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
