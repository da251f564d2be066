// Google's SDK for Gemini.

import assert from "node:assert";

import { GoogleGenAI } from "@google/genai";

import { collect } from "./collect.mjs";

function gemini(base) {
  const { models } = new GoogleGenAI({ apiKey: process.env.CLIENT_KEY ?? "test", httpOptions: { baseUrl: `${base}/google` } });
  return {
    async ask({ model, question, stream }) {
      if (!stream) return (await models.generateContent({ model, contents: question })).text;
      return collect(await models.generateContentStream({ model, contents: question }), (piece) => piece.text);
    },
    async useTool({ model, question, tool, result, stream }) {
      const contents = [{ role: "user", parts: [{ text: question }] }];
      const { name, description, parameters } = tool;
      const declarations = [{ name, description, parametersJsonSchema: parameters }];
      const asked = { model, contents, config: { tools: [{ functionDeclarations: declarations }] } };
      const [first] = stream
        ? await collect(await models.generateContentStream(asked), (piece) => piece)
        : [await models.generateContent(asked)];
      const call = first.functionCalls[0];
      const brought = { functionResponse: { name: call.name, response: { output: result } } };
      contents.push(first.candidates[0].content, { role: "user", parts: [brought] });
      return { tool: call.name, arguments: call.args, said: (await models.generateContent(asked)).text };
    },
    async sideCalls({ model, question }) {
      assert((await models.list()).page.length);
      assert((await models.countTokens({ model, contents: question })).totalTokens);
      assert((await models.embedContent({ model, contents: question })).embeddings.length);
      return 3;
    },
  };
}

export const clients = { "google-genai": gemini };
