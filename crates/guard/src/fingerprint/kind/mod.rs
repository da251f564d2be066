//! What a tool call is for, read from its name and, for a shell, from its command: whether it looks
//! at something, changes something, runs something or keeps the agent's own notes. Only a change is
//! progress whatever its result.

use model::{StepKind, ToolCall};

mod programs;
mod shell;
mod tool_names;

use tool_names::{
    CHANGE, CHANGE_ANYWHERE, DELEGATION, HOLDS, LOOK, PLAN, RUN, SHELL, STRIDE, TAKES_COMMAND, TELLS, VERDICT, WAIT,
};

/// What the calls of one step are for: if one of them changes something, the step does.
pub(super) fn of_calls(calls: &[ToolCall<'_>]) -> StepKind {
    let mut kinds = calls.iter().map(of_call);
    let first = kinds.next().unwrap_or_default();
    kinds.fold(first, |step, kind| match (step, kind) {
        (StepKind::Change, _) | (_, StepKind::Change) => StepKind::Change,
        (one, other) if one == other => one,
        (StepKind::Plan, other) | (other, StepKind::Plan) => other,
        _ => StepKind::Other,
    })
}

fn of_call(call: &ToolCall<'_>) -> StepKind {
    let words = Words::of(&call.name);
    if words.any(&["stdin"]) {
        return StepKind::Look;
    }
    // A robot or a game is moved by repeating one call: only the result shows how far.
    let is_stride = || words.any(&STRIDE) || (words.any(&["move"]) && call.arguments.contains(r#""direction""#));
    if is_stride() && !words.any(&CHANGE_ANYWHERE) {
        return StepKind::Other;
    }
    if is_patch(call) {
        return StepKind::Change;
    }
    if words.any(&PLAN) {
        return StepKind::Plan;
    }
    // A tool that does everything with a file names the action in its arguments.
    let looks = [r#""command":"view""#, r#""command": "view""#];
    if words.any(&CHANGE_ANYWHERE) {
        return if looks.iter().any(|look| call.arguments.contains(look)) { StepKind::Look } else { StepKind::Change };
    }
    let holds_command =
        || !call.arguments.trim_start().starts_with('{') || HOLDS.iter().any(|key| call.arguments.contains(key));
    if (words.is_empty() || words.any(&SHELL)) && holds_command() {
        return shell::kind(&call.arguments);
    }
    if words.last_is(&TELLS) && !words.any(&["set", "update", "change"]) {
        return StepKind::Look;
    }
    let kind = words.first_of(&[
        (&WAIT, StepKind::Wait),
        (&LOOK, StepKind::Look),
        (&CHANGE, StepKind::Change),
        (&RUN, StepKind::Run),
    ]);
    // A tool that takes a command is a shell, whatever it is called: `run`, `do_in_vm`.
    let takes_command = || TAKES_COMMAND.iter().any(|key| call.arguments.contains(key));
    if kind == StepKind::Other && takes_command() { shell::kind(&call.arguments) } else { kind }
}

/// Whether a call hands work to another agent.
pub(super) fn is_delegation(call: &ToolCall<'_>) -> bool {
    let hands_over = [r#""prompt""#, r#""task""#, r#""instructions""#, r#""message""#, r#""question""#];
    Words::of(&call.name).any(&DELEGATION) && hands_over.iter().any(|key| call.arguments.contains(key))
}

/// Whether a result only says that a sub-agent works on its task from now on.
pub(super) fn is_launch(result: &str) -> bool {
    let head = result[..result.floor_char_boundary(80)].to_ascii_lowercase();
    ["launched", "spawned", "in the background"].iter().any(|word| head.contains(word))
}

/// Whether a call checks something: an agent may check many things, and finding nothing wrong is
/// good news.
pub(super) fn is_verdict(call: &ToolCall<'_>) -> bool {
    Words::of(&call.name).any(&VERDICT)
}

/// Whether a call is a patch that was written as text, whatever the language of its block.
pub(super) fn is_patch(call: &ToolCall<'_>) -> bool {
    let text = &call.arguments;
    // The cheap test first: few arguments have even the beginning of a mark.
    let has_mark = text.as_bytes().array_windows().any(|bytes| matches!(bytes, b"<<<" | b"***" | b"---"));
    has_mark
        && (text.contains("<<<<<<< SEARCH")
            || text.contains("*** Begin Patch")
            || (text.contains("--- ") && text.contains("+++ ")))
}

/// Whether a message is about the patch itself: some harnesses answer a patch with the output of
/// tests.
pub(super) fn is_about_patch(result: &str) -> bool {
    let head = result[..result.floor_char_boundary(200)].to_ascii_lowercase();
    ["search/replace", "edit format", "patch", "hunk", "block"].iter().any(|word| head.contains(word))
}

/// The words of a name: `getOrder_status` has three.
struct Words<'n>(Vec<&'n str>);

impl<'n> Words<'n> {
    /// No tool has a longer name.
    const LONGEST: usize = 256;

    fn of(name: &'n str) -> Words<'n> {
        let name = &name[..name.floor_char_boundary(Self::LONGEST)];
        let mut words = Vec::new();
        for part in name.split(|character: char| !character.is_ascii_alphanumeric()) {
            let mut start = 0;
            for (place, pair) in part.as_bytes().windows(2).enumerate() {
                if pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase() {
                    words.push(&part[start..=place]);
                    start = place + 1;
                }
            }
            if start < part.len() {
                words.push(&part[start..]);
            }
        }
        Words(words)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn any(&self, list: &[&str]) -> bool {
        self.0.iter().any(|word| is_in(word, list))
    }

    fn last_is(&self, list: &[&str]) -> bool {
        self.0.last().is_some_and(|word| is_in(word, list))
    }

    /// The kind of the first word that is in any of the lists.
    fn first_of(&self, lists: &[(&[&str], StepKind)]) -> StepKind {
        let kind = |word: &&str| lists.iter().find(|(list, _)| is_in(word, list)).map(|(_, kind)| *kind);
        self.0.iter().find_map(kind).unwrap_or_default()
    }
}

fn is_in(word: &str, list: &[&str]) -> bool {
    list.iter().any(|listed| listed.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: StepKind, calls: &[(&'static str, &'static str)]) {
        for (name, arguments) in calls {
            let call = ToolCall { name: (*name).into(), arguments: (*arguments).into() };
            assert_eq!(of_calls(&[call]), expected, "{name} {arguments}");
        }
    }

    #[test]
    fn a_name_says_what_a_tool_is_for() {
        check(
            StepKind::Look,
            &[
                ("Read", "{}"),
                ("get_order", "{}"),
                ("job_status", "{}"),
                ("searchFlights", "{}"),
                ("mcp__git__git_status", "{}"),
                ("write_stdin", "{}"),
                ("browser_click", "{}"),
                ("str_replace_editor", r#"{"command": "view", "path": "a"}"#),
            ],
        );
        check(
            StepKind::Change,
            &[
                ("Edit", "{}"),
                ("MultiEdit", "{}"),
                ("str_replace_editor", r#"{"command": "create"}"#),
                ("apply_patch", "{}"),
                ("search_replace", "{}"),
                ("write_file", "{}"),
                ("create_issue", "{}"),
                ("send_message", "{}"),
                ("replace", "{}"),
                ("browser_type", "{}"),
            ],
        );
        check(
            StepKind::Plan,
            &[("TodoWrite", "{}"), ("update_plan", "{}"), ("sequential_thinking", "{}"), ("save_memory", "{}")],
        );
        check(StepKind::Run, &[("run_tests", "{}"), ("lint", "{}"), ("python", "print(1)")]);
        check(StepKind::Other, &[("Task", "{}"), ("roll_dice", "{}"), ("frobnicate", "{}")]);
        check(StepKind::Look, &[("run", r#"{"command":"find / -name x"}"#), ("in_vm", r#"{"cmd":"ls"}"#)]);
    }

    #[test]
    fn a_step_with_a_change_is_a_change() {
        let call = |name: &'static str| ToolCall { name: name.into(), arguments: "{}".into() };
        assert_eq!(of_calls(&[call("Read"), call("Edit")]), StepKind::Change);
        assert_eq!(of_calls(&[call("TodoWrite"), call("Read")]), StepKind::Look);
        assert_eq!(of_calls(&[]), StepKind::Other);
    }
}
