// The tools that every framework's agent gets; they work in the current folder.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

import { z } from "zod";

function runCommand({ command }) {
  const done = spawnSync("sh", ["-c", command], { encoding: "utf8" });
  return `exit code ${done.status}\n${done.stdout}${done.stderr}`;
}

function editFile({ path, old, new: replacement }) {
  const text = readFileSync(path, "utf8");
  const found = text.split(old).length - 1;
  if (found !== 1) return `error: found ${found} times in ${path}`;
  writeFileSync(path, text.replace(old, () => replacement));
  return `edited ${path}`;
}

function writeFile({ path, text }) {
  writeFileSync(path, text);
  return `wrote ${path}`;
}

export const TOOLS = {
  run_command: { description: "Runs a shell command", schema: z.object({ command: z.string() }), execute: runCommand },
  read_file: {
    description: "Returns the text of a file",
    schema: z.object({ path: z.string() }),
    execute: ({ path }) => readFileSync(path, "utf8"),
  },
  write_file: {
    description: "Writes a file",
    schema: z.object({ path: z.string(), text: z.string() }),
    execute: writeFile,
  },
  edit_file: {
    description: "Replaces a part of a file",
    schema: z.object({ path: z.string(), old: z.string(), new: z.string() }),
    execute: editFile,
  },
};

export const INSTRUCTIONS = "You are a software engineer. Use your tools until the task is done.";
export const MODEL = "gpt-5.5";
// More steps than any script has: the server is to stop a loop, not the framework.
export const MOST_STEPS = 200;
