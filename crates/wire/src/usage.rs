//! Tokens as providers report them, brought to one meaning: the whole includes its parts (see [`Usage`]).
//!
//! OpenAI includes cached tokens in the input and reasoning in the output. Anthropic puts cached tokens beside the input.
//! Gemini puts reasoning beside the output, and the prompts of its own tools beside the input. Ollama has no parts.

use model::Usage;

use crate::json::Json;

/// OpenAI's usage, of Chat Completions and of Responses.
pub(crate) fn read_openai(usage: &mut Usage, value: Json<'_>) {
    let mut total = None;
    value.fields(|key, value| match key {
        "prompt_tokens" | "input_tokens" => usage.input = value.number(),
        "completion_tokens" | "output_tokens" => usage.output = value.number(),
        "total_tokens" => total = value.number(),
        // The words of DeepSeek and of Moonshot.
        "prompt_cache_hit_tokens" | "cached_tokens" => usage.cached = value.number(),
        "prompt_tokens_details" | "input_tokens_details" => value.fields(|key, value| match key {
            "cached_tokens" => usage.cached = value.number(),
            "cache_write_tokens" => usage.cache_write = value.number(),
            _ => {}
        }),
        "completion_tokens_details" | "output_tokens_details" => {
            if let Some(reasoning) = value.field("reasoning_tokens") {
                usage.reasoning = reasoning.number();
            }
        }
        _ => {}
    });
    // xAI, and Gemini where it speaks like OpenAI, leave reasoning out of the output but not out of the total.
    let rest = total.zip(usage.input).and_then(|(total, input)| total.checked_sub(input));
    usage.output = usage.output.max(usage.output.and(rest));
}

/// Anthropic's usage. In a stream each report replaces what earlier ones said.
#[derive(Debug, Default)]
pub(crate) struct AnthropicUsage {
    input: Option<u64>,
    cache_write: Option<u64>,
    cache_write_long: Option<u64>,
    cache_read: Option<u64>,
    output: Option<u64>,
}

impl AnthropicUsage {
    pub(crate) fn read(&mut self, usage: Json<'_>) {
        usage.fields(|key, value| {
            let tokens = match key {
                "input_tokens" => &mut self.input,
                "cache_creation_input_tokens" => &mut self.cache_write,
                "cache_read_input_tokens" => &mut self.cache_read,
                "output_tokens" => &mut self.output,
                "cache_creation" => {
                    let long = value.field("ephemeral_1h_input_tokens").and_then(Json::number);
                    self.cache_write_long = long.or(self.cache_write_long);
                    return;
                }
                _ => return,
            };
            *tokens = value.number().or(*tokens);
        });
    }

    pub(crate) fn total(&self) -> Usage {
        Usage {
            input: sum([self.input, self.cache_write, self.cache_read]),
            output: self.output,
            cached: self.cache_read,
            cache_write: self.cache_write,
            cache_write_long: self.cache_write_long,
            reasoning: None,
        }
    }
}

/// Gemini's usage. Every report is whole: the last one counts.
pub(crate) fn read_gemini(value: Json<'_>) -> Usage {
    let (mut prompt, mut tools, mut said, mut thought, mut cached) = (None, None, None, None, None);
    value.fields(|key, value| match key {
        "promptTokenCount" => prompt = value.number(),
        "toolUsePromptTokenCount" => tools = value.number(),
        "candidatesTokenCount" => said = value.number(),
        "thoughtsTokenCount" => thought = value.number(),
        "cachedContentTokenCount" => cached = value.number(),
        _ => {}
    });
    let (input, output) = (sum([prompt, tools]), sum([said, thought]));
    Usage { input, output, cached, reasoning: thought, ..Usage::default() }
}

/// The sum of what was said; none if nothing was.
fn sum<const N: usize>(counts: [Option<u64>; N]) -> Option<u64> {
    counts.into_iter().flatten().reduce(u64::saturating_add)
}
