// Runs one client after another as told on standard input: one JSON command per line, one JSON reply per line.
// Told to by the tests, which are written in Python.

import { createInterface } from "node:readline";

import { clients as ai } from "./ai.mjs";
import { clients as anthropic } from "./anthropic.mjs";
import { clients as google } from "./google.mjs";
import { clients as langchain } from "./langchain.mjs";
import { clients as ollama } from "./ollama.mjs";
import { clients as openai } from "./openai.mjs";

const clients = { ...ai, ...anthropic, ...google, ...langchain, ...ollama, ...openai };
const methods = { ask: "ask", use_tool: "useTool", side_calls: "sideCalls" };
const openClients = new Map();

// Some clients print: what they say must not be taken for a reply.
console.log = console.info = console.warn = console.error;

/** What comes of one command: a value, or the exception that a user of this client would see. */
async function run({ client, base, do: what, task }) {
  const key = `${client} ${base}`;
  try {
    if (!openClients.has(key)) openClients.set(key, clients[client](base));
    return { value: await openClients.get(key)[methods[what]](task) };
  } catch (error) {
    return { error: { type: error.constructor.name, message: error.message } };
  }
}

function reply(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

reply({ clients: Object.keys(clients).sort() });
for await (const line of createInterface({ input: process.stdin })) {
  reply(await run(JSON.parse(line)));
}
