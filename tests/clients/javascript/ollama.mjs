// Ollama's own client: chat and generate.

import assert from "node:assert";

import { Ollama } from "ollama";

import { collect } from "./collect.mjs";

function chat(base) {
  const client = new Ollama({ host: `${base}/ollama` });
  return {
    async ask({ model, question, stream }) {
      const answer = await client.chat({ model, messages: [{ role: "user", content: question }], stream });
      return stream ? collect(answer, (piece) => piece.message.content) : answer.message.content;
    },
    async useTool({ model, question, tool, result, stream }) {
      const messages = [{ role: "user", content: question }];
      const asked = { model, messages, tools: [{ type: "function", function: tool }] };
      const [message] = stream
        ? await collect(await client.chat({ ...asked, stream }), (piece) => piece.message)
        : [(await client.chat(asked)).message];
      const call = message.tool_calls[0].function;
      messages.push(message, { role: "tool", tool_name: call.name, content: result });
      return { tool: call.name, arguments: call.arguments, said: (await client.chat(asked)).message.content };
    },
    async sideCalls({ model, question }) {
      assert((await client.list()).models.length);
      assert((await client.show({ model })).capabilities.length);
      assert((await client.embed({ model, input: question })).embeddings.length);
      return 3;
    },
  };
}

function generate(base) {
  const client = new Ollama({ host: `${base}/ollama` });
  return {
    async ask({ model, question, stream }) {
      const answer = await client.generate({ model, prompt: question, stream });
      return stream ? collect(answer, (piece) => piece.response) : answer.response;
    },
  };
}

export const clients = { "ollama-chat": chat, "ollama-generate": generate };
