// LangChain's chat models for each format.

import { ChatAnthropic } from "@langchain/anthropic";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatGoogleGenerativeAI } from "@langchain/google-genai";
import { ChatOllama } from "@langchain/ollama";
import { ChatOpenAI } from "@langchain/openai";

import { collect } from "./collect.mjs";

function chatModel(make) {
  return (base) => ({
    async ask({ model, question, stream }) {
      const chat = make(base, model);
      const messages = [new HumanMessage(question)];
      if (!stream) return (await chat.invoke(messages)).text;
      return collect(await chat.stream(messages), (chunk) => chunk.text);
    },
    async useTool({ model, question, tool, result, stream }) {
      const chat = make(base, model).bindTools([{ type: "function", function: tool }]);
      const messages = [new HumanMessage(question)];
      const message = stream
        ? (await collect(await chat.stream(messages), (chunk) => chunk)).reduce((whole, chunk) => whole.concat(chunk))
        : await chat.invoke(messages);
      const call = message.tool_calls[0];
      messages.push(message, new ToolMessage({ content: result, tool_call_id: call.id, name: call.name }));
      return { tool: call.name, arguments: call.args, said: (await chat.invoke(messages)).text };
    },
  });
}

const openai = (base, model, more) =>
  new ChatOpenAI({ model, apiKey: "sk-test", configuration: { baseURL: `${base}/openai/v1` }, ...more });

export const clients = {
  "langchain-openai": chatModel(openai),
  "langchain-openai-responses": chatModel((base, model) => openai(base, model, { useResponsesApi: true })),
  "langchain-anthropic": chatModel(
    (base, model) => new ChatAnthropic({ model, apiKey: "sk-test", anthropicApiUrl: `${base}/anthropic` }),
  ),
  "langchain-google-genai": chatModel(
    (base, model) => new ChatGoogleGenerativeAI({ model, apiKey: "test", baseUrl: `${base}/google` }),
  ),
  "langchain-ollama": chatModel((base, model) => new ChatOllama({ model, baseUrl: `${base}/ollama` })),
};
