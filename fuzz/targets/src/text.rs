//! Texts that are normalised and fingerprinted.

use guard::{NewCall, Numbers, normalise as normalised, text_hash};
use model::{AgentId, Asked, CallId, ToolCall};

/// Normalised text has only single spaces, and does not depend on the white space around it.
pub(crate) fn normalise(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for numbers in [Numbers::Masked, Numbers::Kept] {
        let normal = normalised(&text, numbers);
        assert!(!normal.contains("  ") && normal.trim() == normal, "{normal:?}");
        let spread = format!("\n {text}\t\r\n");
        assert_eq!(normalised(&spread, numbers), normal);
        assert_eq!(text_hash(&spread, numbers), text_hash(&text, numbers));
    }
    fingerprint(&text);
}

/// Fingerprints `text` as a prompt, as a tool call and as a tool result.
fn fingerprint(text: &str) {
    let Ok(agent) = AgentId::parse("fuzzer") else { return };
    let asked = Asked {
        prompt: vec![text.into()],
        newest_message: text,
        tool_calls: vec![ToolCall { name: text.into(), arguments: text.into() }],
        tool_results: vec![text.into()],
        ..Asked::default()
    };
    let call = NewCall { agent: &agent, call: CallId::new(), conversation: text, body: text.as_bytes(), asked: &asked };
    call.prepare();
}
