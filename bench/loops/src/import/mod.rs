//! `import`: rebuilds public runs as replay lines from the files of their sources. No such data is
//! part of this repository; the README says where each source is.

mod agentdojo;
mod claude_code;
mod codex;
mod intercode;
mod mini_swe_agent;
mod react;
mod tau_bench;
mod trae;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use serde_json::{Value, json};

/// Where a file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// sierra-research/tau-bench: historical_trajectories/*.json
    TauBench,
    /// ethz-spylab/agentdojo: runs/**/*.json
    Agentdojo,
    /// princeton-nlp/intercode: data/results/**/*.json
    Intercode,
    /// mini-swe-agent: *.traj.json, also of terminal-bench experiments
    MiniSweAgent,
    /// TRAE agent: trajectory JSON files, also of ISO-Bench
    Trae,
    /// Reflexion and its followers: logs of ReAct agents as text
    React,
    /// Claude Code: session files (JSON Lines)
    ClaudeCode,
    /// Codex: rollout files (JSON Lines)
    Codex,
}

/// One run, to become one line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Imported {
    id: String,
    /// Whether the task was solved, if that is known.
    is_solved: Option<bool>,
    body: Body,
}

/// A run is a transcript, or calls with their bodies.
#[derive(Clone, Debug, PartialEq)]
enum Body {
    Messages(Vec<Value>),
    Calls(Vec<Value>),
}

impl Default for Body {
    fn default() -> Body {
        Body::Messages(Vec::new())
    }
}

impl Source {
    fn read(self, text: &str, name: &str) -> anyhow::Result<Vec<Imported>> {
        match self {
            Source::TauBench => tau_bench::read(&serde_json::from_str(text)?, name),
            Source::Agentdojo => agentdojo::read(&serde_json::from_str(text)?),
            Source::Intercode => intercode::read(&serde_json::from_str(text)?, name),
            Source::MiniSweAgent => mini_swe_agent::read(&serde_json::from_str(text)?, name),
            Source::Trae => trae::read(&serde_json::from_str(text)?, name),
            Source::React => Ok(react::read(text, name)),
            Source::ClaudeCode => claude_code::read(text, name),
            Source::Codex => codex::read(text, name),
        }
    }
}

impl Imported {
    fn line(&self) -> String {
        let mut line = json!({"id": self.id});
        if let Some(is_solved) = self.is_solved {
            line["label"] = json!(if is_solved { "ok" } else { "failed" });
        }
        match &self.body {
            Body::Messages(messages) => line["messages"] = json!(messages),
            Body::Calls(calls) => line["calls"] = json!(calls),
        }
        line.to_string()
    }

    fn is_empty(&self) -> bool {
        match &self.body {
            Body::Messages(list) | Body::Calls(list) => list.is_empty(),
        }
    }
}

/// Prints the runs of some files. `solved` names a list of ids for sources that do not record the
/// outcome of a run.
pub(crate) fn import(source: Source, files: &[PathBuf], solved: Option<&Path>) -> anyhow::Result<()> {
    let solved = solved.map(read_ids).transpose()?;
    let mut out = std::io::stdout().lock();
    for file in files {
        let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let name = name.split('.').next().unwrap_or_default();
        let runs = source.read(&text, name).with_context(|| format!("reading {}", file.display()))?;
        for mut run in runs.into_iter().filter(|run| !run.is_empty()) {
            if let Some(solved) = &solved {
                run.is_solved = Some(solved.contains(&run.id));
            }
            writeln!(out, "{}", run.line())?;
        }
    }
    Ok(())
}

/// A JSON list of ids, or one id per line.
fn read_ids(file: &Path) -> anyhow::Result<BTreeSet<String>> {
    let text = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let lines = || text.lines().map(|line| line.trim().to_owned()).collect();
    Ok(serde_json::from_str(&text).unwrap_or_else(|_| lines()))
}

/// The list in a field, or an error that names it.
fn list<'a>(value: &'a Value, field: &str) -> anyhow::Result<&'a Vec<Value>> {
    value[field].as_array().with_context(|| format!("`{field}` must be a list"))
}

/// A text field; empty if it is absent or null.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// A tool call as Chat Completions writes it. Arguments that are an object become a string.
fn chat_call(id: &str, name: &str, arguments: &Value) -> Value {
    let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}
