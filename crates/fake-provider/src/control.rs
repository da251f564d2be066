//! Paths by which a test in another process observes and scripts the provider.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use http::request::Parts;
use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::State;
use crate::script::Fault;
use crate::seen::SeenRequest;
use crate::steps::{Step, Steps};

/// The faults of the next conversations, one each.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    next: Mutex<VecDeque<Fault>>,
}

impl Faults {
    /// Takes the fault of the next conversation.
    pub(crate) fn next(&self) -> Option<Fault> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn replace(&self, faults: impl Iterator<Item = Fault>) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = faults.collect();
    }
}

/// A fault in JSON: `{"status":500}`, `{"die_after":100}` or `"stall"`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FaultSpec {
    Status(u16),
    DieAfter(usize),
    StallAfter(usize),
    Stall,
}

/// Answers a request to one of these paths:
///
/// - `GET /_seen`: how many requests there were,
/// - `GET /_last`: the last one as it came,
/// - `PUT /_faults`: a list of faults for the next conversations,
/// - `PUT /_steps`: a list of scripted answers,
/// - `GET /_steps`: the number that is left, and the calls since the script began.
pub(crate) fn answer(request: &Parts, body: &Bytes, state: &State) -> Option<(StatusCode, Value)> {
    let told = |result: Result<(), String>| match result {
        Ok(()) => (StatusCode::OK, json!({})),
        Err(message) => (StatusCode::BAD_REQUEST, json!({"error": message})),
    };
    let seen = &state.seen;
    match request.uri.path() {
        "/_seen" => Some((StatusCode::OK, json!(seen.counts()))),
        "/_last" => Some((StatusCode::OK, seen.last().as_ref().map(request_json).unwrap_or_default())),
        "/_faults" => Some(told(set_faults(&state.faults, body))),
        "/_steps" if request.method == Method::PUT => Some(told(set_steps(&state.steps, body))),
        "/_steps" => Some((StatusCode::OK, state.steps.progress())),
        _ => None,
    }
}

fn set_steps(steps: &Steps, body: &[u8]) -> Result<(), String> {
    let told: Vec<Step> = serde_json::from_slice(body).map_err(|error| format!("not a list of steps: {error}"))?;
    steps.replace(told);
    Ok(())
}

fn set_faults(faults: &Faults, body: &[u8]) -> Result<(), String> {
    let told: Vec<FaultSpec> =
        serde_json::from_slice(body).map_err(|error| format!("not a list of faults: {error}"))?;
    let parsed: Result<Vec<Fault>, String> = told.into_iter().map(fault).collect();
    faults.replace(parsed?.into_iter());
    Ok(())
}

fn fault(told: FaultSpec) -> Result<Fault, String> {
    Ok(match told {
        FaultSpec::Status(status) => {
            Fault::Status(StatusCode::from_u16(status).map_err(|_| format!("{status} is no HTTP status"))?)
        }
        FaultSpec::DieAfter(bytes) => Fault::DieAfter(bytes),
        FaultSpec::StallAfter(bytes) => Fault::StallAfter(bytes),
        FaultSpec::Stall => Fault::Stall,
    })
}

fn request_json(request: &SeenRequest) -> Value {
    let headers = request.headers.iter();
    let headers: Vec<Value> =
        headers.map(|(name, value)| json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())])).collect();
    json!({
        "method": request.method.as_str(),
        "uri": request.uri.to_string(),
        "headers": headers,
        "body": String::from_utf8_lossy(&request.body),
    })
}
