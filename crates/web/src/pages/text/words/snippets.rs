//! The texts to paste into each client so that its calls go through the proxy. `docs/clients.md`
//! lists the versions that were tried.

/// The text to paste into one client.
pub(in crate::pages) struct Snippet {
    /// The id of its element.
    pub(in crate::pages) id: &'static str,
    /// The client's name.
    pub(in crate::pages) client: &'static str,
    pub(in crate::pages) text: String,
}

/// Stands for the address of the agent in a text.
const BASE: &str = "@BASE";

const TEXTS: [(&str, &str, &str); 8] = [
    ("paste-claude", "Claude Code", "export ANTHROPIC_BASE_URL=@BASE/anthropic\nclaude"),
    (
        "paste-codex",
        "Codex",
        "# ~/.codex/config.toml\nmodel_provider = \"agentgazer\"\n\n[model_providers.agentgazer]\nname = \"AgentGazer\"\n\
         base_url = \"@BASE/openai/v1\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"",
    ),
    ("paste-gemini", "Gemini CLI", "export GOOGLE_GEMINI_BASE_URL=@BASE/google\ngemini"),
    (
        "paste-openai",
        "OpenAI SDK",
        "export OPENAI_BASE_URL=@BASE/openai/v1\n\n# or in Python\nclient = OpenAI(base_url=\"@BASE/openai/v1\")",
    ),
    (
        "paste-anthropic",
        "Anthropic SDK",
        "export ANTHROPIC_BASE_URL=@BASE/anthropic\n\n# or in Python\nclient = Anthropic(base_url=\"@BASE/anthropic\")",
    ),
    (
        "paste-langchain",
        "LangChain",
        "ChatOpenAI(base_url=\"@BASE/openai/v1\")\nChatAnthropic(base_url=\"@BASE/anthropic\")\n\
         ChatGoogleGenerativeAI(base_url=\"@BASE/google\")",
    ),
    ("paste-ollama", "Ollama", "export OLLAMA_HOST=@BASE/ollama"),
    (
        "paste-curl",
        "curl",
        "curl @BASE/openai/v1/chat/completions \\\n  -H \"authorization: Bearer $OPENAI_API_KEY\" \\\n  \
         -H \"content-type: application/json\" \\\n  \
         -d '{\"model\": \"gpt-4o-mini\", \"messages\": [{\"role\": \"user\", \"content\": \"Are you there?\"}]}'",
    ),
];

/// The texts for an agent called `my-agent` behind the proxy at `proxy_url`.
pub(in crate::pages) fn snippets(proxy_url: &str) -> Vec<Snippet> {
    let base = format!("{}/agents/my-agent", proxy_url.trim_end_matches('/'));
    let snippet = |(id, client, text): (_, _, &str)| Snippet { id, client, text: text.replace(BASE, &base) };
    TEXTS.map(snippet).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_snippet_names_the_agent_behind_this_proxy() {
        for snippet in snippets("http://127.0.0.1:1/") {
            assert!(snippet.text.contains("http://127.0.0.1:1/agents/my-agent/"), "{}", snippet.text);
            assert!(!snippet.text.contains(BASE), "{}", snippet.text);
        }
    }
}
