// The Anthropic SDK.

import assert from "node:assert";

import Anthropic from "@anthropic-ai/sdk";

import { collect } from "./collect.mjs";

const LIMIT = { max_tokens: 256 };

function messages(base) {
  const client = new Anthropic({ apiKey: process.env.CLIENT_KEY ?? "sk-test", baseURL: `${base}/anthropic` });
  return {
    async ask({ model, question, stream, timeout }) {
      const asked = { model, messages: [{ role: "user", content: question }], ...LIMIT };
      const options = timeout ? { timeout: timeout * 1000 } : {};
      if (!stream) return (await client.messages.create(asked, options)).content[0].text;
      return collect(client.messages.stream(asked), (event) => event.delta?.text);
    },
    async useTool({ model, question, tool, result, stream }) {
      const tools = [{ name: tool.name, description: tool.description, input_schema: tool.parameters }];
      const messages = [{ role: "user", content: question }];
      const asked = { model, messages, tools, ...LIMIT };
      const first = stream
        ? await client.messages.stream(asked).finalMessage()
        : await client.messages.create(asked);
      const call = first.content[0];
      const brought = { type: "tool_result", tool_use_id: call.id, content: result };
      messages.push({ role: "assistant", content: first.content }, { role: "user", content: [brought] });
      const said = (await client.messages.create(asked)).content[0].text;
      return { tool: call.name, arguments: call.input, said };
    },
    async sideCalls({ model, question }) {
      assert((await client.models.list()).data.length);
      const asked = { model, messages: [{ role: "user", content: question }] };
      assert((await client.messages.countTokens(asked)).input_tokens);
      return 2;
    },
  };
}

export const clients = { anthropic: messages };
