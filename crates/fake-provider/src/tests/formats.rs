//! Each format in a table: its requests, and the positions of its fields.

use super::*;

/// A format.
struct Way {
    path: &'static str,
    /// The path for a stream, if `stream` in the body does not select it.
    stream_path: Option<&'static str>,
    /// The request body: the user says "how are you?".
    body: Value,
    /// The position of the text in a body, and in a piece of a stream.
    text: [&'static str; 2],
    /// The position of the input tokens in a body.
    tokens: &'static str,
    /// The position of the error message.
    error: &'static str,
}

fn ways() -> Vec<Way> {
    let way = |path, body: Value, text, tokens| {
        let error = if path_is_of_ollama(path) { "/error" } else { "/error/message" };
        Way { path, stream_path: None, body, text, tokens, error }
    };
    let messages = || json!({"model": "m", "messages": [{"role": "user", "content": "how are you?"}]});
    let prompt = || json!({"model": "m", "prompt": "how are you?"});
    let input =
        json!({"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": "how are you?"}]}]});
    let gemini = |stream_path| {
        let body = json!({"contents": [{"parts": [{"text": "how are you?"}]}]});
        let text = ["/candidates/0/content/parts/0/text"; 2];
        let way = way("/v1beta/models/m:generateContent", body, text, "/usageMetadata/promptTokenCount");
        Way { stream_path: Some(stream_path), ..way }
    };
    vec![
        way(CHAT, messages(), ["/choices/0/message/content", "/choices/0/delta/content"], "/usage/prompt_tokens"),
        way("/v1/completions", prompt(), ["/choices/0/text"; 2], "/usage/prompt_tokens"),
        way("/v1/messages", messages(), ["/content/0/text", "/delta/text"], "/usage/input_tokens"),
        way("/v1/responses", input, ["/output/0/content/0/text", "/delta"], "/usage/input_tokens"),
        way(
            "/v1/responses",
            json!({"input": "how are you?"}),
            ["/output/0/content/0/text", "/delta"],
            "/usage/input_tokens",
        ),
        gemini("/v1beta/models/m:streamGenerateContent?alt=sse"),
        gemini("/v1beta/models/m:streamGenerateContent"),
        way("/api/chat", messages(), ["/message/content"; 2], "/prompt_eval_count"),
        way("/api/generate", prompt(), ["/response"; 2], "/prompt_eval_count"),
    ]
}

fn path_is_of_ollama(path: &str) -> bool {
    path.starts_with("/api/")
}

fn with_stream(body: &Value, stream: bool) -> Value {
    let mut body = body.clone();
    body["stream"] = stream.into();
    body
}

async fn text(behaviour: Behaviour, path: &str, body: Value) -> String {
    let response = asked(behaviour, path, body).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    String::from_utf8(response.body().to_vec()).unwrap()
}

async fn body(behaviour: Behaviour, path: &str, asking: Value) -> Value {
    serde_json::from_str(&text(behaviour, path, asking).await).unwrap()
}

/// The objects of a stream, however it is cut.
fn pieces(stream: &str) -> Vec<Value> {
    if stream.starts_with('[') {
        return serde_json::from_str(stream).unwrap();
    }
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: ").or(line.starts_with('{').then_some(line)));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

#[tokio::test]
async fn every_format_is_answered() {
    let echo = Behaviour { answer: Answer::Echo, ..Behaviour::default() };
    for way in ways() {
        let body = body(echo.clone(), way.path, with_stream(&way.body, false)).await;
        assert_eq!(body.pointer(way.text[0]).unwrap(), "how are you?", "{}", way.path);
        assert!(body.pointer(way.tokens).unwrap().as_u64() > Some(0), "{}", way.path);

        let path = way.stream_path.unwrap_or(way.path);
        let pieces = pieces(&text(echo.clone(), path, with_stream(&way.body, true)).await);
        let output: String = pieces.iter().filter_map(|piece| piece.pointer(way.text[1])?.as_str()).collect();
        assert_eq!(output, "how are you?", "{path}");
        assert!(pieces.len() >= 4, "{path}");
    }
}

#[tokio::test]
async fn an_error_has_the_shape_of_its_format() {
    let behaviour = Behaviour::fault(Fault::Status(StatusCode::TOO_MANY_REQUESTS));
    for way in ways() {
        let response = asked(behaviour.clone(), way.path, way.body).await.unwrap();
        let body: Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!(response.status(), 429);
        assert!(body.pointer(way.error).unwrap().as_str().unwrap().contains("429"), "{}", way.path);
    }
}

/// Checks how a format offers a tool, calls it, and takes its result.
async fn check_tool(path: &str, offer: Value, call: &str, result: Value) {
    let mut asking = ways().into_iter().find(|way| way.path == path).unwrap().body;
    asking["stream"] = false.into();
    asking["tools"] = json!([offer]);
    let answer = body(Behaviour::default(), path, asking.clone()).await;
    let arguments = answer.pointer(call).unwrap_or_else(|| panic!("{path}: {answer}"));
    let arguments = arguments.as_str().map_or_else(|| arguments.clone(), |text| serde_json::from_str(text).unwrap());
    assert_eq!(arguments, json!({"city": "example"}), "{path}");

    let list = ["messages", "contents", "input"].into_iter().find(|list| asking[*list].is_array()).unwrap();
    asking[list].as_array_mut().unwrap().push(result);
    let answer = body(Behaviour::default(), path, asking).await;
    assert_eq!(answer.pointer(call), None, "{path}: a result is followed by words");
}

#[tokio::test]
async fn an_assistant_calls_the_tool_it_is_offered_and_then_speaks() {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let function = json!({"name": "weather", "parameters": schema});
    let tool = json!({"type": "function", "function": function});
    let result = json!({"role": "tool", "tool_call_id": "1", "content": "sunny"});
    check_tool(CHAT, tool.clone(), "/choices/0/message/tool_calls/0/function/arguments", result.clone()).await;
    check_tool("/api/chat", tool, "/message/tool_calls/0/function/arguments", result).await;

    let offer = json!({"type": "custom", "name": "weather", "input_schema": schema});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "sunny"}]});
    check_tool("/v1/messages", offer, "/content/0/input", result).await;

    let offer = json!({"type": "function", "name": "weather", "parameters": schema});
    let result = json!({"type": "function_call_output", "call_id": "1", "output": "sunny"});
    check_tool("/v1/responses", offer, "/output/0/arguments", result).await;

    let snake = json!({"name": "weather", "parameters_json_schema": schema});
    let response = json!({"name": "weather", "response": {"output": "sunny"}});
    for (offer, response) in [
        (json!({"functionDeclarations": [function]}), json!({"functionResponse": response})),
        (json!({"function_declarations": [snake]}), json!({"function_response": response})),
    ] {
        let call = "/candidates/0/content/parts/0/functionCall/args";
        let result = json!({"role": "user", "parts": [response]});
        check_tool("/v1beta/models/m:generateContent", offer, call, result).await;
    }
}

#[tokio::test]
async fn a_custom_tool_is_called_with_text() {
    let mut asking = json!({"input": "how are you?", "stream": true});
    asking["tools"] = json!([{"type": "custom", "name": "run"}]);
    let pieces = pieces(&text(Behaviour::default(), "/v1/responses", asking).await);
    let names: Vec<&str> = pieces.iter().map(|piece| piece["type"].as_str().unwrap()).collect();
    assert_eq!(names[2], "response.output_item.added");
    assert!(names.contains(&"response.custom_tool_call_input.delta"), "{names:?}");
    let done = &pieces[names.iter().position(|name| *name == "response.output_item.done").unwrap()];
    assert_eq!((&done["item"]["type"], &done["item"]["input"]), (&json!("custom_tool_call"), &json!("example")));
    let numbers: Vec<u64> = pieces.iter().map(|piece| piece["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..pieces.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn side_calls_are_answered_in_their_format() {
    let check = async |path: &str, asking: Value, pointer: &str| {
        let answer = body(Behaviour::default(), path, asking).await;
        assert!(answer.pointer(pointer).is_some(), "{path}: {answer}");
    };
    check("/v1/embeddings", json!({"input": ["a", "b"]}), "/data/1/embedding/3").await;
    check("/v1/messages/count_tokens", json!({"messages": []}), "/input_tokens").await;
    check("/v1/responses/input_tokens", json!({"input": "a"}), "/input_tokens").await;
    check("/v1beta/models/m:countTokens", json!({"contents": []}), "/totalTokens").await;
    check("/v1beta/models/m:batchEmbedContents", json!({"requests": []}), "/embeddings/0/values/3").await;
    check("/api/embed", json!({"input": "a"}), "/embeddings/0/3").await;
    check("/api/show", json!({"model": "m"}), "/capabilities/1").await;
}
