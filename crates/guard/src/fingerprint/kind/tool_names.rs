//! Words in the names of tools, by what such tools are for.

/// Names of tools that keep the agent's own notes.
pub(super) const PLAN: [&str; 12] = [
    "plan",
    "plans",
    "todo",
    "todos",
    "think",
    "thinking",
    "thought",
    "note",
    "notes",
    "memory",
    "memories",
    "scratchpad",
];

/// Words that mark a change wherever they stand in a name.
pub(super) const CHANGE_ANYWHERE: [&str; 8] =
    ["edit", "multiedit", "write", "patch", "replace", "insert", "append", "apply"];

pub(super) const CHANGE: [&str; 51] = [
    "create",
    "delete",
    "remove",
    "rename",
    "move",
    "update",
    "modify",
    "save",
    "commit",
    "set",
    "add",
    "put",
    "post",
    "send",
    "book",
    "pay",
    "transfer",
    "cancel",
    "upload",
    "submit",
    "reply",
    "format",
    "fix",
    "refactor",
    "copy",
    "mkdir",
    "notebookedit",
    "publish",
    "deploy",
    "merge",
    "assign",
    "schedule",
    "install",
    "exchange",
    "return",
    "invite",
    "complete",
    "close",
    "scale",
    "resize",
    "restart",
    "rollback",
    "enable",
    "disable",
    "approve",
    "archive",
    "refund",
    // Into a form.
    "type",
    "fill",
    "input",
    "drag",
];

pub(super) const LOOK: [&str; 59] = [
    "ping",
    "read",
    "view",
    "cat",
    "open",
    "get",
    "list",
    "ls",
    "find",
    "search",
    "grep",
    "glob",
    "query",
    "fetch",
    "lookup",
    "look",
    "show",
    "check",
    "status",
    "poll",
    "inspect",
    "describe",
    "browse",
    "screenshot",
    "scroll",
    "click",
    "goto",
    "navigate",
    "hover",
    "press",
    "capture",
    "head",
    "tail",
    "count",
    "tree",
    "diff",
    "log",
    "logs",
    "stat",
    "select",
    "validate",
    "verify",
    "stdin",
    "websearch",
    // “Search” in other languages.
    "buscar",
    "busca",
    "cerca",
    "chercher",
    "recherche",
    "rechercher",
    "ricerca",
    "pesquisar",
    "procurar",
    "suche",
    "suchen",
    "szukaj",
    "wyszukaj",
    "zoek",
    "zoeken",
];

/// Words in names of tools that advance a game or a robot by one step.
pub(super) const STRIDE: [&str; 8] = ["forward", "backward", "next", "step", "advance", "turn", "tick", "walk"];

/// Last words of names of tools that report something.
pub(super) const TELLS: [&str; 9] =
    ["status", "state", "progress", "logs", "log", "history", "info", "details", "checks"];

pub(super) const WAIT: [&str; 3] = ["sleep", "wait", "pause"];

pub(super) const RUN: [&str; 12] = [
    "test",
    "tests",
    "build",
    "lint",
    "bench",
    "benchmark",
    "compile",
    "typecheck",
    "python",
    "ipython",
    "jupyter",
    "execute_code",
];

pub(super) const SHELL: [&str; 14] = [
    "bash",
    "shell",
    "terminal",
    "sh",
    "zsh",
    "exec",
    "execute",
    "command",
    "cmd",
    "powershell",
    "console",
    "mswea_bash",
    "fish",
    "commands",
];

/// Words in names of tools that check whether something is right.
pub(super) const VERDICT: [&str; 7] = ["validate", "verify", "lint", "scan", "audit", "typecheck", "review"];

/// Arguments that hold a command.
pub(super) const HOLDS: [&str; 5] = [r#""command""#, r#""cmd""#, r#""script""#, r#""code""#, r#""commands""#];

/// Arguments that only a shell has.
pub(super) const TAKES_COMMAND: [&str; 2] = [r#""command""#, r#""cmd""#];

/// Names of tools that hand work to another agent.
pub(super) const DELEGATION: [&str; 8] =
    ["task", "agent", "subagent", "delegate", "dispatch", "spawn", "handoff", "coworker"];
