//! The built-in providers.

use model::{Format, Provider};

/// Name, base URL (without the version, which clients send), format, and the chat endpoint below
/// the base URL.
const BUILT_IN: [(&str, &str, Format, &str); 14] = [
    ("openai", "https://api.openai.com", Format::Openai, OPENAI_CHAT),
    ("anthropic", "https://api.anthropic.com", Format::Anthropic, ANTHROPIC_CHAT),
    ("google", "https://generativelanguage.googleapis.com", Format::Gemini, GEMINI_CHAT),
    ("mistral", "https://api.mistral.ai", Format::Openai, OPENAI_CHAT),
    ("deepseek", "https://api.deepseek.com", Format::Openai, OPENAI_CHAT),
    ("moonshot", "https://api.moonshot.ai", Format::Openai, OPENAI_CHAT),
    ("zhipu", "https://open.bigmodel.cn/api/paas", Format::Openai, "/v4/chat/completions"),
    ("minimax", "https://api.minimax.io", Format::Openai, OPENAI_CHAT),
    ("groq", "https://api.groq.com/openai", Format::Openai, OPENAI_CHAT),
    ("openrouter", "https://openrouter.ai/api", Format::Openai, OPENAI_CHAT),
    ("xai", "https://api.x.ai", Format::Openai, OPENAI_CHAT),
    ("together", "https://api.together.xyz", Format::Openai, OPENAI_CHAT),
    ("fireworks", "https://api.fireworks.ai/inference", Format::Openai, OPENAI_CHAT),
    ("ollama", "http://127.0.0.1:11434", Format::Ollama, OLLAMA_CHAT),
];

const OPENAI_CHAT: &str = "/v1/chat/completions";
const ANTHROPIC_CHAT: &str = "/v1/messages";
/// Gemini's native endpoint has the model in its path; its OpenAI-compatible one does not.
const GEMINI_CHAT: &str = "/v1beta/openai/chat/completions";
const OLLAMA_CHAT: &str = "/api/chat";

/// The built-in providers.
pub fn builtin_providers() -> Vec<Provider> {
    BUILT_IN.iter().filter_map(|(name, base_url, format, _)| Provider::new(name, base_url, *format).ok()).collect()
}

/// The path of a provider's chat endpoint below its base URL, for calls that name only the
/// provider.
pub fn chat_path(provider: &str, format: Format) -> &'static str {
    // A built-in provider that is configured with another format has that format's endpoint.
    if let Some((.., path)) = BUILT_IN.iter().find(|(name, _, spoken, _)| *name == provider && *spoken == format) {
        return path;
    }
    match format {
        Format::Openai => OPENAI_CHAT,
        Format::Anthropic => ANTHROPIC_CHAT,
        Format::Gemini => GEMINI_CHAT,
        Format::Ollama => OLLAMA_CHAT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_provider_is_valid() {
        let names: Vec<_> = builtin_providers().into_iter().map(|provider| provider.name).collect();
        assert_eq!(names, BUILT_IN.map(|(name, ..)| name));
    }

    #[test]
    fn the_chat_endpoint_of_a_provider() {
        assert_eq!(chat_path("zhipu", Format::Openai), "/v4/chat/completions");
        assert_eq!(chat_path("zhipu", Format::Anthropic), "/v1/messages");
        assert_eq!(chat_path("google", Format::Gemini), "/v1beta/openai/chat/completions");
        assert_eq!(chat_path("mine", Format::Openai), "/v1/chat/completions");
        assert_eq!(chat_path("ollama", Format::Ollama), "/api/chat");
    }
}
