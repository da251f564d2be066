//! Token counts of all providers, converted to one meaning: totals include their parts (see
//! [`Usage`]).
//!
//! OpenAI includes cached tokens in the input and reasoning in the output. Anthropic puts cached
//! tokens beside the input. Gemini puts reasoning beside the output, and the prompts of its own
//! tools beside the input. Ollama has no parts.

use model::Usage;

use crate::json::{Cursor, Json, Malformed};

/// More than any call can use. A larger count is a provider's error (an unsigned number below zero)
/// and is ignored.
const MOST_TOKENS: u64 = 1_000_000_000;

/// A count of tokens, unless it is impossibly large.
pub(crate) fn tokens(value: Json<'_>) -> Option<u64> {
    value.number().filter(|count| *count <= MOST_TOKENS)
}

/// Reads the usage of Chat Completions and of Responses from the cursor.
pub(crate) fn read_openai(usage: &mut Usage, cursor: &mut Cursor<'_>) -> Result<(), Malformed> {
    let mut total = None;
    cursor.object(|cursor, key| {
        match key {
            "prompt_tokens" | "input_tokens" => usage.input = tokens(cursor.value()?),
            "completion_tokens" | "output_tokens" => usage.output = tokens(cursor.value()?),
            "total_tokens" => total = tokens(cursor.value()?),
            // The keys of DeepSeek and of Moonshot.
            "prompt_cache_hit_tokens" | "cached_tokens" => usage.cached = tokens(cursor.value()?),
            "prompt_tokens_details" | "input_tokens_details" => drop(cursor.fields(|key, value| match key {
                "cached_tokens" => usage.cached = tokens(value),
                "cache_write_tokens" => usage.cache_write = tokens(value),
                _ => {}
            })?),
            "completion_tokens_details" | "output_tokens_details" => drop(cursor.fields(|key, value| {
                if key == "reasoning_tokens" {
                    usage.reasoning = tokens(value);
                }
            })?),
            _ => cursor.pass()?,
        }
        Ok(())
    })?;
    // xAI, and Gemini where it speaks like OpenAI, leave reasoning out of the output but not out of
    // the total.
    let rest = total.zip(usage.input).and_then(|(total, input)| total.checked_sub(input));
    usage.output = usage.output.max(usage.output.and(rest));
    Ok(())
}

/// Anthropic's usage. In a stream each report replaces the counts of earlier ones.
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
            let count = match key {
                "input_tokens" => &mut self.input,
                "cache_creation_input_tokens" => &mut self.cache_write,
                "cache_read_input_tokens" => &mut self.cache_read,
                "output_tokens" => &mut self.output,
                "cache_creation" => {
                    let long = value.field("ephemeral_1h_input_tokens").and_then(tokens);
                    self.cache_write_long = long.or(self.cache_write_long);
                    return;
                }
                _ => return,
            };
            *count = tokens(value).or(*count);
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

/// Gemini's usage. Every report is complete, so the last one counts.
pub(crate) fn read_gemini(value: Json<'_>) -> Usage {
    let (mut prompt, mut tools, mut accumulator, mut thought, mut cached) = (None, None, None, None, None);
    value.fields(|key, value| match key {
        "promptTokenCount" => prompt = tokens(value),
        "toolUsePromptTokenCount" => tools = tokens(value),
        "candidatesTokenCount" => accumulator = tokens(value),
        "thoughtsTokenCount" => thought = tokens(value),
        "cachedContentTokenCount" => cached = tokens(value),
        _ => {}
    });
    let (input, output) = (sum([prompt, tools]), sum([accumulator, thought]));
    Usage { input, output, cached, reasoning: thought, ..Usage::default() }
}

/// Bedrock's usage. Like Anthropic it puts cached tokens beside the input.
pub(crate) fn read_converse(value: Json<'_>) -> Usage {
    let (mut input, mut output, mut cached, mut cache_write) = (None, None, None, None);
    value.fields(|key, value| match key {
        "inputTokens" => input = tokens(value),
        "outputTokens" => output = tokens(value),
        "cacheReadInputTokens" => cached = tokens(value),
        "cacheWriteInputTokens" => cache_write = tokens(value),
        _ => {}
    });
    Usage { input: sum([input, cached, cache_write]), output, cached, cache_write, ..Usage::default() }
}

/// Cohere's usage: the tokens of the call, or else those it bills.
pub(crate) fn read_cohere(value: Json<'_>) -> Usage {
    let Some(counts) = value.field("tokens").or_else(|| value.field("billed_units")) else { return Usage::default() };
    let count = |name: &str| counts.field(name).and_then(tokens);
    let cached = value.field("cached_tokens").and_then(tokens);
    Usage { input: count("input_tokens"), output: count("output_tokens"), cached, ..Usage::default() }
}

/// The sum of the known counts. `None` if none is known.
fn sum<const N: usize>(counts: [Option<u64>; N]) -> Option<u64> {
    counts.into_iter().flatten().reduce(u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_token_counts_are_ignored() {
        let check = |count: u64, expected: Option<u64>| {
            let written = format!(r#"{{"prompt_tokens":{count},"completion_tokens":7}}"#);
            let mut usage = Usage::default();
            read_openai(&mut usage, &mut Cursor::new(&written)).unwrap();
            assert_eq!((usage.input, usage.output), (expected, Some(7)), "{count}");
        };
        check(12, Some(12));
        check(MOST_TOKENS, Some(MOST_TOKENS));
        check(MOST_TOKENS + 1, None);
        check(u64::MAX, None);
    }
}
