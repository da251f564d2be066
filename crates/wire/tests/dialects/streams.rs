//! Streams of every dialect, in the shape that providers send.

use wire::Dialect;

/// All streams, with their content types.
pub(crate) const STREAMS: [(Dialect, &str, &str); 9] = [
    (Dialect::ChatCompletions, "text/event-stream", CHAT_STREAM),
    (Dialect::Completions, "text/event-stream", COMPLETIONS_STREAM),
    (Dialect::Responses, "text/event-stream", RESPONSES_STREAM),
    (Dialect::Messages, "text/event-stream", MESSAGES_STREAM),
    (Dialect::Gemini, "text/event-stream", GEMINI_STREAM),
    (Dialect::Gemini, "application/json", GEMINI_ARRAY),
    (Dialect::Ollama, "application/x-ndjson", OLLAMA_CHAT_STREAM),
    (Dialect::Ollama, "application/x-ndjson", OLLAMA_GENERATE_STREAM),
    (Dialect::Cohere, "text/event-stream", COHERE_STREAM),
];

/// A stream of chunks as OpenAI sends it.
pub(crate) const CHAT_STREAM: &str = concat!(
    ": warming up\n\n",
    "data: {\"id\":\"c1\",\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hé\"},\"obfuscation\":\"xx\"}],\"usage\":null}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"llo \\ud83d\\ude00\"}}]}\r\n\r\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hidden\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"run\",\"arguments\":\"\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"n\\\":\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"stop\",\"arguments\":\"{}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,",
    "\"prompt_tokens_details\":{\"cached_tokens\":60},\"completion_tokens_details\":{\"reasoning_tokens\":5}}}\n\n",
    "data: [DONE]\n\n",
);

/// A stream of events as Anthropic sends it.
pub(crate) const MESSAGES_STREAM: &str = concat!(
    "event: message_start\n",
    "data: {\"type\":\"message_start\",\"message\":{\"model\":\"claude\",\"content\":[],\"usage\":{\"input_tokens\":10,",
    "\"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":70,\"output_tokens\":1}}}\n\n",
    "event: content_block_start\n",
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n",
    "event: content_block_delta\n",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "event: content_block_start\n",
    "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
    "event: content_block_delta\n",
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"I lóok.\"}}\n\n",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
    "event: content_block_start\n",
    "data: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"read\",\"input\":{}}}\n\n",
    "event: content_block_delta\n",
    "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":\"}}\n\n",
    "event: content_block_delta\n",
    "data: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"1}\"}}\n\n",
    "event: content_block_start\n",
    "data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"u\",\"name\":\"now\",\"input\":{}}}\n\n",
    "event: message_delta\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":42}}\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
);

/// A stream of chunks as OpenAI sent it before there were chats.
pub(crate) const COMPLETIONS_STREAM: &str = concat!(
    "data: {\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"model\":\"davinci\",\"choices\":[{\"index\":0,\"text\":\"Once \",\"logprobs\":null,\"finish_reason\":null}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"text\":\"upón\",\"finish_reason\":\"stop\"}],\"usage\":null}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,\"total_tokens\":5}}\n\n",
    "data: [DONE]\n\n",
);

/// A stream of events as OpenAI sends it for Responses.
pub(crate) const RESPONSES_STREAM: &str = concat!(
    "event: response.created\n",
    "data: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"error\":null,\"model\":\"gpt-5\",\"output\":[],\"usage\":null}}\n\n",
    "event: response.output_item.added\n",
    "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[]}}\n\n",
    "event: response.reasoning_summary_text.delta\n",
    "data: {\"type\":\"response.reasoning_summary_text.delta\",\"delta\":\"hidden\"}\n\n",
    "event: response.output_item.done\n",
    "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"hidden\"}]}}\n\n",
    "event: response.output_item.added\n",
    "data: {\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}}\n\n",
    "event: response.output_text.delta\n",
    "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"delta\":\"I l\",\"obfuscation\":\"xyz\"}\n\n",
    "event: response.output_text.delta\n",
    "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"delta\":\"óok.\"}\n\n",
    "event: response.output_text.done\n",
    "data: {\"type\":\"response.output_text.done\",\"item_id\":\"msg_1\",\"text\":\"I lóok.\"}\n\n",
    "event: response.output_item.done\n",
    "data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"I lóok.\",\"annotations\":[]}]}}\n\n",
    "event: response.function_call_arguments.delta\n",
    "data: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_1\",\"delta\":\"{\\\"a\\\":\"}\n\n",
    "event: response.function_call_arguments.done\n",
    "data: {\"type\":\"response.function_call_arguments.done\",\"item_id\":\"fc_1\",\"arguments\":\"{\\\"a\\\":1}\"}\n\n",
    "event: response.output_item.done\n",
    "data: {\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"id\":\"fc_1\",\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":\"call_1\",\"name\":\"read\",\"arguments\":\"{\\\"a\\\":1}\"}}\n\n",
    "event: response.output_item.done\n",
    "data: {\"type\":\"response.output_item.done\",\"output_index\":3,\"item\":{\"id\":\"ct_1\",\"type\":\"custom_tool_call\",\"call_id\":\"call_2\",\"name\":\"patch\",\"input\":\"raw\"}}\n\n",
    "event: response.completed\n",
    "data: {\"type\":\"response.completed\",\"sequence_number\":9,\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"error\":null,\"model\":\"gpt-5\",",
    "\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"I lóok.\"}]}],",
    "\"usage\":{\"input_tokens\":100,\"input_tokens_details\":{\"cached_tokens\":60,\"cache_write_tokens\":10},\"output_tokens\":20,\"output_tokens_details\":{\"reasoning_tokens\":5},\"total_tokens\":120}}}\n\n",
);

/// A stream of events as Gemini sends it.
pub(crate) const GEMINI_STREAM: &str = concat!(
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hidden\",\"thought\":true}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":90,\"totalTokenCount\":90},\"modelVersion\":\"gemini-3\",\"responseId\":\"r\"}\r\n\r\n",
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"I lóok\"}],\"role\":\"model\"},\"index\":0}]}\r\n\r\n",
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\".\"},{\"functionCall\":{\"name\":\"read\",\"args\":{\"a\":1}},\"thoughtSignature\":\"c2ln\"}],\"role\":\"model\"},\"index\":0}]}\r\n\r\n",
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}],",
    "\"usageMetadata\":{\"promptTokenCount\":90,\"toolUsePromptTokenCount\":10,\"cachedContentTokenCount\":60,\"candidatesTokenCount\":15,\"thoughtsTokenCount\":5,\"totalTokenCount\":120},\"modelVersion\":\"gemini-3\"}\r\n\r\n",
);

/// The same answer as Gemini sends it to a client that did not ask for events.
pub(crate) const GEMINI_ARRAY: &str = concat!(
    "[{\n  \"candidates\": [{\"content\": {\"parts\": [{\"text\": \"I lóok\"}], \"role\": \"model\"}, \"index\": 0}]\n}\n,\r\n",
    "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\".]}\\\"\"},{\"functionCall\":{\"name\":\"read\",\"args\":{\"a\":1}}}]},\"finishReason\":\"STOP\"}],",
    "\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":4},\"modelVersion\":\"gemini-3\"}\n]\n",
);

/// A stream of lines as Ollama sends it for a chat.
pub(crate) const OLLAMA_CHAT_STREAM: &str = concat!(
    "{\"model\":\"llama\",\"created_at\":\"2026-11-01T00:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"hidden\"},\"done\":false}\n",
    "{\"model\":\"llama\",\"message\":{\"role\":\"assistant\",\"content\":\"I l\"},\"done\":false}\n",
    "{\"model\":\"llama\",\"message\":{\"role\":\"assistant\",\"content\":\"óok.\"},\"done\":false}\n",
    "{\"model\":\"llama\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":{\"index\":0,\"name\":\"read\",\"arguments\":{\"a\":1}}},{\"function\":{\"name\":\"now\",\"arguments\":{}}}]},\"done\":false}\n",
    "{\"model\":\"llama\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"total_duration\":1,\"prompt_eval_count\":26,\"eval_count\":7}\n",
);

/// A stream of lines as Ollama sends it for a single prompt.
pub(crate) const OLLAMA_GENERATE_STREAM: &str = concat!(
    "{\"model\":\"llama\",\"response\":\"Once \",\"done\":false}\n",
    "{\"model\":\"llama\",\"response\":\"upón\",\"done\":false}\n",
    "{\"model\":\"llama\",\"response\":\"\",\"done\":true,\"context\":[1,2],\"prompt_eval_count\":3,\"eval_count\":2}\n",
);

/// A stream of events as Cohere sends it.
pub(crate) const COHERE_STREAM: &str = concat!(
    "event: message-start\ndata: {\"type\":\"message-start\",\"id\":\"c1\",\"delta\":{\"message\":{\"role\":\"assistant\",\"content\":[],\"tool_plan\":\"\",\"tool_calls\":[],\"citations\":[]}}}\n\n",
    "event: tool-plan-delta\ndata: {\"type\":\"tool-plan-delta\",\"delta\":{\"message\":{\"tool_plan\":\"hidden\"}}}\n\n",
    "event: content-start\ndata: {\"type\":\"content-start\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"type\":\"text\",\"text\":\"\"}}}}\n\n",
    "event: content-delta\ndata: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":\"Hé\"}}}}\n\n",
    "event: content-delta\ndata: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":\"!\"}}}}\n\n",
    "event: content-end\ndata: {\"type\":\"content-end\",\"index\":0}\n\n",
    "event: tool-call-start\ndata: {\"type\":\"tool-call-start\",\"index\":0,\"delta\":{\"message\":{\"tool_calls\":{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"\"}}}}}\n\n",
    "event: tool-call-delta\ndata: {\"type\":\"tool-call-delta\",\"index\":0,\"delta\":{\"message\":{\"tool_calls\":{\"function\":{\"arguments\":\"{\\\"a\\\":\"}}}}}\n\n",
    "event: tool-call-delta\ndata: {\"type\":\"tool-call-delta\",\"index\":0,\"delta\":{\"message\":{\"tool_calls\":{\"function\":{\"arguments\":\"1}\"}}}}}\n\n",
    "event: tool-call-end\ndata: {\"type\":\"tool-call-end\",\"index\":0}\n\n",
    "event: tool-call-start\ndata: {\"type\":\"tool-call-start\",\"index\":1,\"delta\":{\"message\":{\"tool_calls\":{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"now\",\"arguments\":\"{}\"}}}}}\n\n",
    "event: message-end\ndata: {\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"TOOL_CALL\",\"usage\":{\"billed_units\":{\"input_tokens\":5},\"tokens\":{\"input_tokens\":71,\"output_tokens\":4}}}}\n\n",
);
