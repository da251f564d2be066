//! `replay`: reads recordings and reports what the detector would have stopped.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Run, ServerBuilder, agentgazer, eventually, provider, run};

/// A run of an agent that makes two useful calls and then calls the same tool `stuck` times.
fn looping(id: &str, stuck: usize) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Find out why the import of customer records fails."})];
    let mut call = |number: usize, command: &str, result: &str| {
        let function = json!({"name": "bash", "arguments": json!({"command": command}).to_string()});
        let id = format!("call_{number}");
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "function": function}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    };
    call(0, "ls", "src tests");
    call(1, "cat src/import.rs", "fn import() {}");
    (0..stuck).for_each(|number| call(2 + number, "make", "nothing to be done"));
    json!({"id": id, "messages": messages})
}

/// The same run as its requests, in the shape that `export` writes.
fn as_calls(run: &Value) -> Value {
    let messages = run["messages"].as_array().unwrap();
    let is_answer = |message: &Value| message["role"] == "assistant";
    let answers = messages.iter().enumerate().filter(|(_, message)| is_answer(message));
    let calls: Vec<Value> = answers
        .map(|(place, answer)| {
            let body = json!({"id": "x", "object": "chat.completion", "choices": [{"index": 0, "message": answer}]});
            json!({"request": {"model": "m", "messages": messages[..place]}, "response": body, "format": "openai"})
        })
        .collect();
    json!({"id": run["id"], "calls": calls})
}

/// How a request to Responses names the steps that came before its last result.
#[derive(Clone, Copy)]
enum History {
    Carried,
    PreviousResponse,
    ItemReferences,
}

/// The same run as requests to Responses.
fn as_responses(run: &Value, history: History) -> Value {
    let item = |message: &Value| match (&message["tool_calls"][0], &message["role"]) {
        (Value::Object(call), _) => json!({
            "type": "function_call", "id": format!("fc_{}", call["id"]), "call_id": call["id"],
            "name": call["function"]["name"], "arguments": call["function"]["arguments"],
        }),
        (_, role) if role == "tool" => json!({
            "type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"],
        }),
        _ => json!({"role": message["role"], "content": message["content"]}),
    };
    let items: Vec<Value> = run["messages"].as_array().unwrap().iter().map(item).collect();
    let is_call = |item: &Value| item["type"] == "function_call";
    let refer = |item: &Value| match is_call(item) {
        true => json!({"type": "item_reference", "id": item["id"]}),
        false => item.clone(),
    };
    let request = |place: usize| match history {
        History::PreviousResponse if place > 1 => {
            json!({"input": [items[place - 1]], "previous_response_id": format!("resp_{}", place - 2)})
        }
        History::ItemReferences => json!({"input": items[..place].iter().map(refer).collect::<Vec<_>>()}),
        _ => json!({"input": items[..place]}),
    };
    let calls = items.iter().enumerate().filter(|(_, item)| is_call(item)).map(|(place, item)| {
        let body =
            json!({"id": format!("resp_{place}"), "object": "response", "status": "completed", "output": [item]});
        json!({"request": request(place), "response": body})
    });
    json!({"id": run["id"], "calls": calls.collect::<Vec<_>>()})
}

fn labelled(mut run: Value, labels: Value) -> Value {
    run.as_object_mut().unwrap().extend(labels.as_object().unwrap().clone());
    run
}

fn lines(runs: &[Value]) -> Vec<u8> {
    runs.iter().flat_map(|run| format!("{run}\n").into_bytes()).collect()
}

fn write(folder: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn objects(run: &Run) -> Vec<Value> {
    run.said().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn replay(file: &Path, more: &[&str]) -> Run {
    run(&[&["replay", file.to_str().unwrap()], more].concat())
}

#[test]
fn both_forms_give_the_same() {
    let folder = TempDir::new().unwrap();
    let recorded = looping("r", 12);
    for (name, run) in [("messages.jsonl", &recorded), ("calls.jsonl", &as_calls(&recorded))] {
        let said = objects(&replay(&write(&folder, name, &lines(std::slice::from_ref(run))), &["--json"]));
        assert_eq!(said.len(), 2, "{said:?}");
        let signals = json!({"similar_prompts": 0, "similar_responses": 3, "repeated_tool_calls": 3});
        assert_eq!(said[0]["killed_at"], 6, "two calls that get somewhere, four of a loop: {said:?}");
        assert_eq!((&said[0]["id"], &said[0]["calls"], &said[0]["score"]), (&json!("r"), &json!(14), &json!(10.5)));
        assert_eq!(said[0]["signals"], signals);
        assert_eq!((&said[1]["runs"], &said[1]["stopped"], &said[1]["calls_saved"]), (&json!(1), &json!(1), &json!(8)));
    }
}

#[test]
fn requests_that_name_earlier_answers_give_the_same() {
    let folder = TempDir::new().unwrap();
    let forms = [History::Carried, History::PreviousResponse, History::ItemReferences];
    let runs = forms.map(|history| as_responses(&looping("r", 12), history));
    let said = objects(&replay(&write(&folder, "runs.jsonl", &lines(&runs)), &["--json"]));
    assert_eq!((&said[0]["killed_at"], &said[0]["score"]), (&json!(6), &json!(10.5)), "{said:?}");
    assert_eq!((&said[1], &said[2]), (&said[0], &said[0]));
}

#[test]
fn compressed_files_and_standard_input_are_read() {
    let folder = TempDir::new().unwrap();
    let plain = lines(&[looping("r", 12)]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    let packed = [gzip.finish().unwrap(), zstd::bulk::compress(&plain, 1).unwrap(), plain];
    let mut arguments = vec!["replay".to_owned(), "--json".to_owned()];
    for (name, bytes) in ["a.jsonl.gz", "b.jsonl.zst", "c.jsonl"].iter().zip(&packed) {
        arguments.push(write(&folder, name, bytes).to_str().unwrap().to_owned());
        let mut child =
            agentgazer().args(["replay", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        let output: Run = child.wait_with_output().unwrap().into();
        assert_eq!(objects(&output)[0]["killed_at"], 6, "{name}");
    }
    let several: Vec<&str> = arguments.iter().map(String::as_str).collect();
    assert_eq!(objects(&run(&several)).last().unwrap()["stopped"], 3);
}

#[test]
fn labels_count_mistakes() {
    let folder = TempDir::new().unwrap();
    let runs = [
        labelled(looping("healthy", 2), json!({"label": "ok"})),
        labelled(looping("paid twice", 3), json!({"label": "ok", "verdict": "borderline"})),
        labelled(looping("stuck", 12), json!({"label": "failed", "verdict": "loop", "first_stuck_call": 2})),
        labelled(looping("stuck too", 3), json!({"label": "loop", "first_stuck_call": 2})),
    ];
    let said = objects(&replay(&write(&folder, "runs.jsonl", &lines(&runs)), &["--json"]));
    let expected = json!({
        "runs": 4, "calls": 4 + 5 + 14 + 5, "stopped": 1, "calls_saved": 8, "healthy": 1, "healthy_stopped": 0,
        "loops": 2, "loops_stopped": 1, "loops_missed": 1, "calls_wasted": 4.0,
        "settings": {"window_size": 20, "threshold": 10.0, "counting": "adaptive"},
    });
    assert_eq!(said.last(), Some(&expected));
    let table = replay(&folder.path().join("runs.jsonl"), &[]);
    assert!(table.said().contains("0 of 1") && table.said().contains("1 of 2") && table.said().contains("7 of 14"));
}

#[test]
fn runs_without_an_id_are_named_by_their_line() {
    let folder = TempDir::new().unwrap();
    let without_id = || json!({"messages": looping("", 12)["messages"]});
    let runs: Vec<Value> = (0..8).map(|_| without_id()).collect();
    let file = write(&folder, "runs.jsonl", &lines(&runs));
    let said = objects(&replay(&file, &["--json"]));
    assert_eq!((&said[0]["id"], &said[7]["id"]), (&json!("runs.jsonl:1"), &json!("runs.jsonl:8")));
    let table = replay(&file, &["--halves"]);
    assert!(table.said().contains("  runs.jsonl:8  "), "{}", table.stdout);
    for half in ["first half", "second half"] {
        assert!(table.stdout.contains(half), "{half}: {}", table.stdout);
    }
}

#[test]
fn settings_are_compared_side_by_side() {
    let folder = TempDir::new().unwrap();
    let file = write(&folder, "runs.jsonl", &lines(&[looping("r", 12)]));
    let settings = ["--threshold", "5,10,20", "--window", "10,20", "--counting", "adaptive,literal"];
    let said = objects(&replay(&file, &[&settings[..], &["--json"]].concat()));
    assert_eq!(said.len(), 13);
    assert_eq!(said[12]["totals"].as_array().unwrap().len(), 12);
    assert_eq!(said[0]["settings"], json!({"window_size": 10, "threshold": 5.0, "counting": "adaptive"}));
    assert_eq!(said[0]["killed_at"], 5);
    assert_eq!(replay(&file, &settings).said().lines().count(), 1 + 2 * 12);
}

#[test]
fn a_bad_line_is_named_and_the_rest_is_measured() {
    let folder = TempDir::new().unwrap();
    let mut bytes = b"{\"messages\":7}\n\n".to_vec();
    bytes.extend(lines(&[looping("r", 12)]));
    bytes.extend(b"{\"id\":\"x\"}\n");
    let output = replay(&write(&folder, "runs.jsonl", &bytes), &["--json"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.lines().last().unwrap().contains(r#""runs":1"#), "{output:?}");
    let said: Vec<&str> = output.stderr.lines().collect();
    assert!(said[0].starts_with("agentgazer: runs.jsonl:1: invalid type"), "{said:?}");
    assert!(said[1].starts_with("agentgazer: runs.jsonl:4: must have one of `messages`"), "{said:?}");
    assert_eq!(said[2], "agentgazer: 2 lines could not be read");
}

#[test]
fn mistakes_are_named() {
    let folder = TempDir::new().unwrap();
    let file = write(&folder, "runs.jsonl", b"");
    for (more, expected) in [(["--window", "1"], "window_size must be"), (["--threshold", "0"], "threshold must be")] {
        let output = replay(&file, &more);
        assert_eq!(output.code, Some(2));
        assert!(output.stderr.contains(expected), "{output:?}");
    }
    let missing = replay(&folder.path().join("none.jsonl"), &[]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("none.jsonl: No such file"), "{missing:?}");
    assert_eq!(replay(&file, &[]).said(), "No runs.\n");
}

const QUESTION: &str = "Why does the import of customer records fail?";

#[tokio::test]
async fn exported_runs_can_be_replayed() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).start();
    server.kill_switch("looper", json!({"enabled": true, "threshold": 5.0})).await;
    for _ in 0..4 {
        server.agent("looper").ask(QUESTION).await;
    }
    let id = server.incidents("looper").await[0]["id"].as_str().unwrap().to_owned();
    let recorded = async || (server.events("looper", "llm_call").await.len() == 3).then_some(());
    eventually("all calls are recorded", recorded).await;

    let folder = TempDir::new().unwrap();
    let killed_at = |more: &[&str], threshold: &str| {
        let exported = server.run_on_data(&[&["export", "--agent", "looper"], more].concat());
        let file = write(&folder, "export.jsonl", exported.said().as_bytes());
        let said = objects(&replay(&file, &["--json", "--threshold", threshold]));
        (said[0]["id"].clone(), said[0]["killed_at"].clone(), said[0]["score"].clone())
    };
    assert_eq!(killed_at(&[], "5"), (json!(id), json!(3), json!(7.0)), "as it was live");
    assert_eq!(killed_at(&["--fingerprints"], "5"), (json!("looper/0"), json!(3), json!(7.0)));
    assert_eq!(killed_at(&["--fingerprints"], "3"), (json!("looper/0"), json!(2), json!(4.0)), "as it would have been");
    assert_eq!(server.run_on_data(&["export", "--agent", "nobody"]).said(), "");
    let nothing = run(&["export", "--data-dir", folder.path().to_str().unwrap()]);
    assert_eq!((nothing.code, nothing.stderr.contains("--data-dir")), (Some(4), true), "{nothing:?}");
}
