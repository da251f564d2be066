// The OpenAI SDK: chat, responses and completions.

import assert from "node:assert";

import OpenAI from "openai";

import { collect } from "./collect.mjs";

function open(base) {
  return new OpenAI({ apiKey: process.env.CLIENT_KEY ?? "sk-test", baseURL: `${base}/openai/v1` });
}

function chat(base) {
  const client = open(base);
  return {
    async ask({ model, question, stream, timeout }) {
      const messages = [{ role: "user", content: question }];
      const options = timeout ? { timeout: timeout * 1000 } : {};
      const answer = await client.chat.completions.create({ model, messages, stream }, options);
      if (!stream) return answer.choices[0].message.content;
      return collect(answer, (chunk) => chunk.choices[0]?.delta.content);
    },
    async useTool({ model, question, tool, result, stream }) {
      const messages = [{ role: "user", content: question }];
      const asked = { model, messages, tools: [{ type: "function", function: tool }] };
      const message = stream
        ? await client.chat.completions.stream(asked).finalMessage()
        : (await client.chat.completions.create(asked)).choices[0].message;
      const call = message.tool_calls[0];
      messages.push(message, { role: "tool", tool_call_id: call.id, content: result });
      const said = (await client.chat.completions.create(asked)).choices[0].message.content;
      return { tool: call.function.name, arguments: JSON.parse(call.function.arguments), said };
    },
    async sideCalls({ model, question }) {
      assert((await client.models.list()).data.length);
      const vectors = await client.embeddings.create({ model, input: question });
      assert.equal(vectors.data[0].embedding.length, 4);
      return 2;
    },
  };
}

function responses(base) {
  const client = open(base);
  return {
    async ask({ model, question, stream }) {
      const answer = await client.responses.create({ model, input: question, stream });
      if (!stream) return answer.output_text;
      return collect(answer, (event) => (event.type === "response.output_text.delta" ? event.delta : null));
    },
    async useTool({ model, question, tool, result, stream }) {
      const input = [{ role: "user", content: question }];
      const asked = { model, input, tools: [{ type: "function", strict: false, ...tool }] };
      const first = stream
        ? await client.responses.stream(asked).finalResponse()
        : await client.responses.create(asked);
      const call = first.output[0];
      input.push(call, { type: "function_call_output", call_id: call.call_id, output: result });
      const said = (await client.responses.create(asked)).output_text;
      return { tool: call.name, arguments: JSON.parse(call.arguments), said };
    },
    async sideCalls({ model, question }) {
      assert((await client.responses.inputTokens.count({ model, input: question })).input_tokens);
      return 1;
    },
  };
}

function completions(base) {
  const client = open(base);
  return {
    async ask({ model, question, stream }) {
      const answer = await client.completions.create({ model, prompt: question, stream });
      return stream ? collect(answer, (chunk) => chunk.choices[0].text) : answer.choices[0].text;
    },
  };
}

export const clients = { "openai-chat": chat, "openai-responses": responses, "openai-completions": completions };
