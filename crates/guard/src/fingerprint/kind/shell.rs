//! What a shell command is for, by the programs that it starts.

use model::StepKind;

use super::programs::{ASIDE, CHANGE, CHANGE_WITH, LOOK, RUN};

/// Names of arguments that hold a command.
const KEYS: [&str; 5] = [r#""command""#, r#""cmd""#, r#""script""#, r#""code""#, r#""commands""#];

/// Arguments that ask a program of the project only to report.
const STATUS: [&str; 8] = ["status", "logs", "list", "show", "info", "progress", "queue", "get"];

/// Words that may come before the program.
const BEFORE: [&str; 14] =
    ["sudo", "time", "nice", "timeout", "env", "bash", "sh", "-lc", "-c", "exec", "command", "then", "do", "nohup"];

/// What one command does.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    changes: bool,
    runs: bool,
    waits: bool,
    looks: bool,
    /// Programs that are in no list.
    others: bool,
}

/// What the command in `arguments` is for. They are JSON or the command itself, and are read
/// without undoing escapes.
pub(super) fn kind(arguments: &str) -> StepKind {
    let arguments = command(arguments);
    let mut found = Found { changes: writes_file(arguments), ..Found::default() };
    for command in commands(arguments) {
        found.take(command);
    }
    match found {
        Found { changes: true, .. } => StepKind::Change,
        Found { runs: true, .. } => StepKind::Run,
        Found { looks: true, .. } => StepKind::Look,
        Found { others: true, .. } => StepKind::Other,
        Found { waits: true, .. } => StepKind::Wait,
        _ => StepKind::Look,
    }
}

/// The command in `arguments` with its escapes: a string or a list.
fn command(arguments: &str) -> &str {
    if !arguments.trim_start().starts_with('{') {
        return arguments;
    }
    let value_of = |key: &str| arguments.find(key).map(|place| place + key.len());
    let Some(start) = KEYS.iter().find_map(|key| value_of(key)) else { return arguments };
    let value = arguments[start..].trim_start_matches([' ', ':']);
    let end = match value.as_bytes().first() {
        Some(b'[') => value.find(']'),
        _ => string_end(value.as_bytes()),
    };
    &value[..end.unwrap_or(value.len())]
}

/// Where the string at the start of `bytes` ends.
fn string_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// The simple commands of a script, split at every separator, also at the escaped line ends and
/// quotes of JSON.
fn commands(script: &str) -> impl Iterator<Item = &str> {
    script.split(['\n', ';', '|', '&', '"', '(', '`']).flat_map(|part| part.split("\\n"))
}

impl Found {
    fn take(&mut self, command: &str) {
        let mut words =
            command.split([' ', '\t', ',', '\\', '\'', '[', ']', '{', '}', ':']).filter(|word| !word.is_empty());
        let is_before =
            |word: &&str| BEFORE.contains(word) || word.contains('=') || word.bytes().all(|byte| byte.is_ascii_digit());
        let Some(program) = words.by_ref().find(|word| !is_before(word)) else { return };
        let name = program.rsplit('/').next().unwrap_or(program);
        let with = CHANGE_WITH.iter().find(|(listed, _)| *listed == name).map(|(_, with)| with);
        let changes_with = with.is_some_and(|with| words.clone().take(3).any(|word| with.contains(&word)));
        self.changes |= CHANGE.contains(&name) || changes_with;
        let asks_status = || words.clone().any(|word| STATUS.contains(&word));
        self.runs |= RUN.contains(&name) || (program.starts_with("./") && !asks_status());
        self.waits |= name == "sleep";
        self.looks |= LOOK.contains(&name) || asks_status();
        self.others |= !LOOK.contains(&name) && !ASIDE.contains(&name) && name != "sleep";
    }
}

/// Whether output is written to a file, or a script writes one.
fn writes_file(script: &str) -> bool {
    if [".write(", "write_text(", "writeFile", "*** Begin Patch", "*** Update File"]
        .iter()
        .any(|mark| script.contains(mark))
    {
        return true;
    }
    script.match_indices('>').any(|(place, _)| is_redirection(script.as_bytes(), place))
}

/// `> file`, `>> file`; not `2>&1`, `->`, `=>`, `>=`, nor a redirection to `/dev/null`.
fn is_redirection(script: &[u8], place: usize) -> bool {
    let before = place.checked_sub(1).and_then(|before| script.get(before)).copied().unwrap_or(b' ');
    let stands_free = matches!(before, b' ' | b'\t' | b'1' | b'\n');
    let rest = script.get(place + 1..).unwrap_or_default();
    let rest = rest.strip_prefix(b">").unwrap_or(rest).trim_ascii_start();
    let goes_on =
        rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'$' | b'~'));
    stands_free && goes_on && !rest.starts_with(b"/dev/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_say_what_a_command_is_for() {
        let check = |expected: StepKind, commands: &[&str]| {
            for command in commands {
                assert_eq!(kind(command), expected, "{command}");
            }
        };
        check(
            StepKind::Look,
            &[
                "ls -la",
                r#"{"command":"git status"}"#,
                "cat a.rs | head -20",
                "grep -rn foo src 2>/dev/null",
                "sed -n 1,20p a.rs",
                r#"{"command":["bash","-lc","rg foo"]}"#,
                "cd /app && ls",
                "curl -s http://localhost/status",
                "find . -name '*.rs' | wc -l",
                "gh pr checks 12",
                "git diff",
                "git log --oneline",
            ],
        );
        check(
            StepKind::Other,
            &[
                "dbt run --select a && echo done",
                "tmux send-keys -t 0 ':wq' Enter",
                "xdotool click 1",
                r#"{"command":"frobnicate --all"}"#,
            ],
        );
        check(StepKind::Look, &["./job status", "squeue -j 12", "frobnicate | grep done"]);
        check(StepKind::Wait, &["sleep 60", r#"{"command":"sleep 5"}"#, r#"{"command":["bash","-lc","sleep 5"]}"#]);
        check(
            StepKind::Run,
            &[
                "cargo test",
                r#"{"command": "cd /app && python -m pytest -q"}"#,
                "npm test 2>&1 | tail -5",
                "./run.sh",
                r#"{"command":["bash","-lc","go test ./..."]}"#,
                "make -j2",
                "timeout 60 pytest",
                "RUST_LOG=x cargo bench",
            ],
        );
        check(
            StepKind::Change,
            &[
                "sed -i 's/a/b/' x.rs",
                "sed -i s/a/b/ x && cargo build",
                "cat <<'EOF' > a.py\nprint(1)\nEOF",
                "echo x >> notes",
                "git commit -m 'fix'",
                r#"{"command":"mkdir -p out"}"#,
                r#"{"command":["apply_patch","*** Begin Patch"]}"#,
                "pip install x",
                "python - <<'EOF'\nopen('a','w').write('x')\nEOF",
                "npm install left-pad",
                "mv a b",
            ],
        );
    }
}
