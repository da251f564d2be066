//! The same call and the same result behind something that differs every time.

use serde_json::json;

use super::{agent, begin_work, go_round};
use crate::conversation::Tool;
use crate::material::reworded;
use crate::rng::{BASE62, BASE64, HEX};
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true;
        pod_names, presigned_url, bearer_token, entity_tag, message_id, written_out_date, memory_jitters, span_in_log_line,
        container_started, lease_with_expiry]
}

/// The letters of names that Kubernetes makes up: no vowels, and no digits that look like letters.
/// Those of a set of pods are even fewer.
const POD_LETTERS: &str = "bcdfghjklmnpqrstvwxz2456789";

/// The same call again and again; `result` draws what differs.
fn repeat(run: &mut Run, tool: (&str, serde_json::Value), result: impl Fn(&mut Run) -> String) {
    let mut chat =
        agent(run, "You operate a platform.", &[tool.0, "describe"], "Find out why the service is slow and repair it.");
    begin_work(run, &mut chat, "describe");
    go_round(run, 30, |run, _| {
        let seen = result(run);
        let say = if run.rng.chance(60) { reworded::again(&mut run.rng, tool.0) } else { String::new() };
        run.act(&mut chat, &say, Tool::new(tool.0, tool.1.clone()), &seen);
    });
}

fn pod_names(run: &mut Run) {
    repeat(run, ("list_pods", json!({"namespace": "shop"})), |run| {
        let (set, pod) = (run.rng.text("456789bcdf", 9), run.rng.text(POD_LETTERS, 5));
        format!("NAME READY STATUS RESTARTS AGE\napi-{set}-{pod} 0/1 CrashLoopBackOff 0 {}s", run.rng.range(3..=50))
    });
}

fn presigned_url(run: &mut Run) {
    repeat(run, ("export_report", json!({"report": "latency"})), |run| {
        let (signature, time) = (run.rng.text(HEX, 64), run.rng.range(100_000..=235_959));
        format!(
            "https://files.example/latency.csv?X-Amz-Date=20260303T{time}Z&X-Amz-Expires=900&X-Amz-Signature={signature}"
        )
    });
}

fn bearer_token(run: &mut Run) {
    repeat(run, ("login", json!({"client": "batch"})), |run| {
        let (body, signature) = (run.rng.text(BASE62, 80), run.rng.text(BASE62, 43));
        format!(r#"{{"access_token":"eyJhbGciOiJIUzI1NiJ9.{body}.{signature}","scope":"none","token_type":"bearer"}}"#)
    });
}

fn entity_tag(run: &mut Run) {
    repeat(run, ("http_get", json!({"url": "https://api.example/v1/health"})), |run| {
        let (tag, date) = (run.rng.text(HEX, 10), run.rng.range(10..=59));
        format!("HTTP/2 503\netag: W/\"{tag}\"\ndate: Tue, 03 Mar 2026 11:{date}:07 GMT\n\nservice unavailable")
    });
}

fn message_id(run: &mut Run) {
    repeat(run, ("read_bounce", json!({"mailbox": "ops"})), |run| {
        let id = run.rng.text(BASE62, 22);
        format!("Message-ID: <{id}@mx.example>\nSubject: Undelivered\n\nThe mailbox of the recipient is full.")
    });
}

fn written_out_date(run: &mut Run) {
    repeat(run, ("letzte_meldung", json!({"anlage": "Halle 2"})), |run| {
        let (minute, second) = (run.rng.range(10..=59), run.rng.range(10..=59));
        format!("Dienstag, 3. März 2026, 14:{minute}:{second} Uhr: Förderband steht, Not-Halt ist gedrückt.")
    });
}

fn memory_jitters(run: &mut Run) {
    repeat(run, ("process_info", json!({"name": "indexer"})), |run| {
        format!(
            "indexer: rss {}.{} MB, cpu {}.{} %, state waiting on lock",
            run.rng.range(508..=517),
            run.rng.range(0..=9),
            run.rng.range(11..=13),
            run.rng.range(0..=9)
        )
    });
}

fn span_in_log_line(run: &mut Run) {
    repeat(run, ("last_log_line", json!({"service": "cart"})), |run| {
        let (trace, span) = (run.rng.text(HEX, 32), run.rng.text(HEX, 16));
        format!(r#"{{"level":"warn","traceId":"{trace}","spanId":"{span}","msg":"upstream not reachable"}}"#)
    });
}

fn container_started(run: &mut Run) {
    repeat(run, ("start_container", json!({"image": "indexer:2"})), |run| {
        let id = run.rng.text(HEX, 12);
        format!(
            "{id}\nStarted in {}.{:03}s\nStatus: Exited (1) {} seconds ago",
            run.rng.range(0..=2),
            run.rng.range(0..=999),
            run.rng.range(1..=9)
        )
    });
}

fn lease_with_expiry(run: &mut Run) {
    repeat(run, ("acquire_lock", json!({"key": "migrations"})), |run| {
        let (lease, expiry) = (run.rng.text(BASE64, 24), 1_772_530_000 + run.rng.range(0..=9_000));
        format!("lock is held by worker-a (lease {lease}, expires {expiry})")
    });
}
