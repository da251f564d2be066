// The Vercel AI SDK with its own clients for OpenAI (Responses and chat) and Anthropic.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool as aiTool } from "ai";

import { collect } from "./collect.mjs";

function textModel(make) {
  return (base) => ({
    async ask({ model, question, stream }) {
      const asked = { model: make(base, model), prompt: question };
      if (!stream) return (await generateText(asked)).text;
      return streamed(asked);
    },
    // The SDK calls the tool by itself and goes on.
    async useTool({ model, question, tool, result, stream }) {
      const called = [];
      const execute = async (input) => {
        called.push(input);
        return result;
      };
      const described = aiTool({ description: tool.description, inputSchema: jsonSchema(tool.parameters), execute });
      const asked = { model: make(base, model), prompt: question, tools: { [tool.name]: described } };
      asked.stopWhen = stepCountIs(2);
      const said = stream ? (await streamed(asked)).join("") : (await generateText(asked)).text;
      return { tool: tool.name, arguments: called[0], said };
    },
  });
}

/** The pieces of the text; the SDK hands errors to a callback instead of throwing them. */
async function streamed(asked) {
  let failure;
  const answer = streamText({ ...asked, onError: ({ error }) => (failure ??= error) });
  const pieces = await collect(answer.textStream, (piece) => piece);
  if (failure) throw failure;
  return pieces;
}

const openai = (base) => createOpenAI({ apiKey: "sk-test", baseURL: `${base}/openai/v1` });

export const clients = {
  "ai-openai": textModel((base, model) => openai(base)(model)),
  "ai-openai-chat": textModel((base, model) => openai(base).chat(model)),
  "ai-anthropic": textModel((base, model) =>
    createAnthropic({ apiKey: "sk-test", baseURL: `${base}/anthropic/v1` })(model),
  ),
};
