//! Requests of real clients: recorded by `scripts/record-clients`, all with the same question, tool
//! and result, so that one list of expectations holds for all of them.

use std::fs;
use std::path::Path;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use model::Asked;
use serde_json::{Value, json};
use wire::{Dialect, Endpoint, conversation_of, read_request};

const QUESTION: &str = "What does the importer do with an empty row?";
const RESULT: &str = "fn import(row) { skip_if_empty(row) }";
const MODEL: &str = "model-of-the-tests";

/// The dialect that a client speaks, by its name.
fn dialect_of(client: &str) -> Dialect {
    let names: [(&str, Dialect); 7] = [
        ("anthropic", Dialect::Messages),
        ("google-genai", Dialect::Gemini),
        ("gemini", Dialect::Gemini),
        ("ollama", Dialect::Ollama),
        ("completions", Dialect::Completions),
        ("responses", Dialect::Responses),
        // The AI SDK uses Responses for OpenAI by default.
        ("javascript-ai-openai.", Dialect::Responses),
    ];
    let found = names.into_iter().find(|(name, _)| format!("{client}.").contains(name));
    found.map_or(Dialect::ChatCompletions, |(_, dialect)| dialect)
}

/// Checks one recorded request; says which conversation it belongs to.
fn check(client: &str, scenario: &str, request: &Value) -> String {
    let what = format!("{client}, {scenario}");
    let dialect = dialect_of(client);
    let method = Method::from_bytes(request["method"].as_str().unwrap().as_bytes()).unwrap();
    let endpoint = Endpoint::of(dialect.format(), &method, request["path"].as_str().unwrap()).expect(&what);
    assert_eq!(endpoint.dialect, dialect, "{what}");

    let asked = read_request(dialect, request["body"].as_str().unwrap().as_bytes()).expect(&what);
    assert_eq!(endpoint.model.or(asked.model.as_deref()), Some(MODEL), "{what}");
    // LangChain streams from Ollama even where it was not asked to.
    let streams = scenario == "stream" || client.ends_with("langchain-ollama");
    assert_eq!(endpoint.streams || asked.streamed, streams, "{what}");
    // A chained request carries only new messages.
    let prompt = if asked.continues.is_some() { "" } else { QUESTION };
    assert_eq!(asked.prompt.concat(), prompt, "{what}");
    match scenario {
        "use_tool" => check_step(&what, &asked),
        _ => assert_eq!((asked.depth, asked.tool_calls.len()), (0, 0), "{what}"),
    }
    conversation_of(&headers_of(request), &asked)
}

fn check_step(what: &str, asked: &Asked<'_>) {
    let calls: Vec<(&str, Value)> =
        asked.tool_calls.iter().map(|call| (&*call.name, serde_json::from_str(&call.arguments).unwrap())).collect();
    let expected = if asked.continues.is_some() { vec![] } else { vec![("read_file", json!({"path": "example"}))] };
    assert_eq!(calls, expected, "{what}");
    assert_eq!(asked.tool_results.len(), 1, "{what}");
    assert!(asked.tool_results[0].contains(RESULT), "{what}: {:?}", asked.tool_results);
}

fn headers_of(request: &Value) -> HeaderMap {
    let fields = request["headers"].as_object().unwrap().iter();
    let header = |(name, value): (&String, &Value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        (name, HeaderValue::from_str(value.as_str().unwrap()).unwrap())
    };
    fields.map(header).collect()
}

#[test]
fn recorded_requests_of_clients_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings");
    let mut clients = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let client = path.file_stem().unwrap().to_str().unwrap();
        let recorded: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let mut conversations = Vec::new();
        for (scenario, request) in recorded.as_object().unwrap() {
            let conversation = check(client, scenario, request);
            // The conversation of a chain is named by the response it continues.
            conversations.extend((!is_chained(request)).then_some(conversation));
        }
        conversations.dedup();
        assert_eq!(conversations.len(), 1, "{client}: the same question is the same conversation");
        clients += 1;
    }
    assert!(clients > 30, "only {clients} recordings");
}

fn is_chained(request: &Value) -> bool {
    request["body"].as_str().unwrap().contains("previous_response_id")
}
