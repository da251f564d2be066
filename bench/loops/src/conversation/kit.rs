//! The tools of the clients that people run, and how their results are worded.

use serde_json::{Value, json};

use super::{Form, Tool};
use crate::rng::{HEX, Rng};

/// A client whose tools and wrappers are imitated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    ClaudeCode,
    Codex,
    GeminiCli,
    OpenCode,
    /// An agent written with an SDK.
    Homemade,
    /// Tools of MCP servers.
    Mcp,
}

/// The tools of one client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kit {
    pub(crate) client: Client,
}

/// The tools of a client by what they are for.
struct Names {
    shell: &'static str,
    read: &'static str,
    edit: &'static str,
    write: &'static str,
    search: &'static str,
    plan: &'static str,
}

impl Kit {
    /// A client that speaks `form`.
    pub(crate) fn of(form: Form, rng: &mut Rng) -> Kit {
        let clients: &[Client] = match form {
            Form::ChatCompletions => &[Client::GeminiCli, Client::OpenCode, Client::Homemade, Client::Mcp],
            Form::Anthropic => &[Client::ClaudeCode, Client::ClaudeCode, Client::OpenCode, Client::Homemade],
            Form::Responses => &[Client::Codex],
            Form::Gemini => &[Client::GeminiCli, Client::Homemade],
        };
        Kit { client: rng.pick(clients) }
    }

    fn names(self) -> Names {
        let [shell, read, edit, write, search, plan] = match self.client {
            Client::ClaudeCode => ["Bash", "Read", "Edit", "Write", "Grep", "TodoWrite"],
            Client::Codex => {
                ["exec_command", "exec_command", "apply_patch", "apply_patch", "exec_command", "update_plan"]
            }
            Client::GeminiCli => {
                ["run_shell_command", "read_file", "replace", "write_file", "search_file_content", "write_todos"]
            }
            Client::OpenCode => ["bash", "read", "edit", "write", "grep", "todowrite"],
            Client::Homemade => ["run_command", "open_file", "edit_file", "create_file", "find_text", "set_plan"],
            Client::Mcp => [
                "mcp__shell__execute",
                "mcp__filesystem__read_text_file",
                "mcp__filesystem__edit_file",
                "mcp__filesystem__write_file",
                "mcp__filesystem__search_files",
                "mcp__tasks__update",
            ],
        };
        Names { shell, read, edit, write, search, plan }
    }

    pub(crate) fn tools(self) -> Vec<&'static str> {
        let Names { shell, read, edit, write, search, plan } = self.names();
        let mut tools = vec![shell, read, edit, write, search, plan];
        tools.sort_unstable();
        tools.dedup();
        tools
    }

    pub(crate) fn system(self) -> &'static str {
        match self.client {
            Client::ClaudeCode => "You are an interactive agent that helps users with software engineering tasks.",
            Client::Codex => "You are a coding agent running in a terminal. Be precise, safe and helpful.",
            Client::GeminiCli => "You are an interactive CLI agent specializing in software engineering tasks.",
            Client::OpenCode => "You are a coding agent. Use the tools to inspect and change the project.",
            Client::Homemade => "You are a software engineer. Work on the task with the tools until it is done.",
            Client::Mcp => "You have tools of several servers. Use them to reach the goal of the user.",
        }
    }

    /// Whether the client names its session in the body.
    pub(crate) fn sends_session(self) -> bool {
        matches!(self.client, Client::ClaudeCode | Client::Codex)
    }

    pub(crate) fn shell(self, command: &str) -> Tool {
        let name = self.names().shell;
        let input = match self.client {
            Client::ClaudeCode => json!({"command": command, "description": "Run a command"}),
            Client::Codex => json!({"cmd": command, "workdir": "/home/dev/app", "yield_time_ms": 1000}),
            Client::OpenCode => json!({"command": command, "timeout": 120_000}),
            _ => json!({"command": command}),
        };
        Tool::new(name, input)
    }

    pub(crate) fn read(self, path: &str) -> Tool {
        match self.client {
            Client::Codex => self.shell(&format!("cat {path}")),
            Client::ClaudeCode => Tool::new("Read", json!({ "file_path": format!("/home/dev/app/{path}") })),
            Client::GeminiCli => Tool::new("read_file", json!({ "absolute_path": format!("/home/dev/app/{path}") })),
            Client::OpenCode => Tool::new("read", json!({ "filePath": path })),
            _ => Tool::new(self.names().read, json!({ "path": path })),
        }
    }

    pub(crate) fn read_range(self, path: &str, first: usize, count: usize) -> Tool {
        if self.client == Client::Codex {
            return self.shell(&format!("sed -n '{first},{}p' {path}", first + count));
        }
        let mut tool = self.read(path);
        tool.input["offset"] = json!(first);
        tool.input["limit"] = json!(count);
        tool
    }

    pub(crate) fn edit(self, path: &str, old: &str, new: &str) -> Tool {
        let input = match self.client {
            Client::Codex => {
                json!({"input": format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch")})
            }
            Client::ClaudeCode => {
                json!({"file_path": format!("/home/dev/app/{path}"), "old_string": old, "new_string": new})
            }
            Client::OpenCode => json!({"filePath": path, "oldString": old, "newString": new}),
            Client::Mcp => json!({"path": path, "edits": [{"oldText": old, "newText": new}]}),
            _ => json!({"file_path": path, "old_string": old, "new_string": new}),
        };
        Tool::new(self.names().edit, input)
    }

    pub(crate) fn write(self, path: &str, text: &str) -> Tool {
        let input = match self.client {
            Client::Codex => {
                let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
                json!({"input": format!("*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch")})
            }
            Client::ClaudeCode | Client::GeminiCli => json!({"file_path": path, "content": text}),
            _ => json!({"path": path, "content": text}),
        };
        Tool::new(self.names().write, input)
    }

    pub(crate) fn search(self, pattern: &str, path: &str) -> Tool {
        match self.client {
            Client::Codex => self.shell(&format!("rg -n '{pattern}' {path}")),
            _ => Tool::new(self.names().search, json!({"pattern": pattern, "path": path})),
        }
    }

    /// The plan tool with the steps before `done` completed.
    pub(crate) fn plan(self, steps: &[String], done: usize) -> Tool {
        let status = |place: usize| match place {
            place if place < done => "completed",
            place if place == done => "in_progress",
            _ => "pending",
        };
        let key = if self.client == Client::Codex { "step" } else { "content" };
        let list: Vec<Value> =
            steps.iter().enumerate().map(|(place, step)| json!({key: step, "status": status(place)})).collect();
        let list_key = if self.client == Client::Codex { "plan" } else { "todos" };
        Tool::new(self.names().plan, json!({ list_key: list }))
    }

    pub(crate) fn planned(self) -> &'static str {
        match self.client {
            Client::ClaudeCode => {
                "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress."
            }
            Client::Codex => "Plan updated",
            _ => "Successfully updated the todo list.",
        }
    }

    /// Puts the wrapper around a result of a shell tool that has one and lacks it: a client writes
    /// it around everything that a command prints.
    pub(crate) fn wrap(rng: &mut Rng, tool: &Tool, text: String, code: u8) -> String {
        match tool.name.as_str() {
            "exec_command" if !text.starts_with("Chunk ID: ") => Kit { client: Client::Codex }.output(rng, &text, code),
            "run_shell_command" if !text.starts_with("Output: ") => {
                Kit { client: Client::GeminiCli }.output(rng, &text, code)
            }
            _ => text,
        }
    }

    /// What a command printed, in the client's wrapper.
    pub(crate) fn output(self, rng: &mut Rng, printed: &str, code: u8) -> String {
        match self.client {
            Client::Codex => format!(
                "Chunk ID: {}\nWall time: {}.{:04} seconds\nProcess exited with code {code}\nOriginal token count: {}\nOutput:\n{printed}\n",
                rng.text(HEX, 6),
                rng.range(0..=2),
                rng.range(1..=9999),
                printed.len() / 4
            ),
            Client::GeminiCli => {
                let error = if code == 0 { "(none)".to_owned() } else { code.to_string() };
                format!(
                    "Output: {printed}\nError: (none)\nExit Code: {error}\nProcess Group PGID: {}",
                    rng.range(2000..=99_000)
                )
            }
            Client::ClaudeCode if code != 0 => format!("Exit code {code}\n{printed}"),
            Client::Homemade => json!({"exit_code": code, "stdout": printed}).to_string(),
            _ => printed.to_owned(),
        }
    }

    /// What an edit that worked gives back.
    pub(crate) fn edited(self, path: &str) -> String {
        match self.client {
            Client::ClaudeCode => format!("The file /home/dev/app/{path} has been updated successfully."),
            Client::Codex => format!("Success. Updated the following files:\nM {path}\n"),
            Client::GeminiCli => format!("Successfully modified file: /home/dev/app/{path} (1 replacements)."),
            Client::OpenCode => "Edit applied successfully.".to_owned(),
            Client::Homemade => r#"{"ok": true}"#.to_owned(),
            Client::Mcp => format!("Edited {path}"),
        }
    }

    /// What an edit gives back that does not find its text.
    pub(crate) fn no_match(self, path: &str) -> String {
        match self.client {
            Client::ClaudeCode => "<tool_use_error>String to replace not found in file.</tool_use_error>".to_owned(),
            Client::Codex => format!("apply_patch verification failed: Failed to find expected lines in {path}"),
            Client::GeminiCli => {
                "Failed to edit, 0 occurrences found for old_string. No edits made. Use read_file to verify.".to_owned()
            }
            Client::OpenCode => "Error: oldString not found in content".to_owned(),
            Client::Homemade | Client::Mcp => format!("Error: could not find exact match for edit in {path}"),
        }
    }
}
