//! Text games: one prompt with the task and a line `> go to shelf 1` for each action, followed by
//! its result.

use memchr::{memchr_iter, memmem};

use super::History;
use super::action::announced;

/// The words before the task.
const TASK: &str = "our task is to:";

/// Reads the run at the end of a prompt. `None` if there is none.
pub(super) fn read(text: &str) -> Option<History<'_>> {
    // The last one: examples before it have tasks too.
    let start = memmem::rfind(text.as_bytes(), TASK.as_bytes())? + TASK.len();
    let run = &text[start..];
    let (task, _) = run.split_once('\n')?;
    let is_action = |at: &usize| run[at + 1..].starts_with('>');
    let mut actions = memchr_iter(b'\n', run.as_bytes()).filter(is_action).map(|line_end| &run[line_end + 2..]);
    let (mut newest, mut count) = (None, 0_u32);
    actions.by_ref().for_each(|action| {
        let (command, result) = action.split_once('\n').unwrap_or((action, ""));
        if !command.trim().is_empty() {
            (newest, count) = (Some((command, result)), count.saturating_add(1));
        }
    });
    let waits = run.trim_end().ends_with("\n>");
    if newest.is_none() && !waits {
        return None;
    }
    let step = newest.map(|(command, result)| {
        let result = result.trim_end().strip_suffix('>').unwrap_or(result);
        (announced(command), vec![result.trim()])
    });
    Some(History { task: task.trim().to_owned(), step, actions: count })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]
mod tests {
    use super::*;

    fn check(text: &str, task: &str, actions: u32, step: Option<(&str, &str, &str)>) {
        let history = read(text).unwrap();
        let found = history.step.as_ref().map(|(call, results)| (&*call.name, &*call.arguments, results[0]));
        assert_eq!((&*history.task, history.actions, found), (task, actions, step), "{text}");
    }

    #[test]
    fn the_newest_command_of_the_last_task_is_read() {
        let example = "Your task is to: heat an egg.\n> go to fridge 1\nIt is closed.\n\n";
        let begin = format!("{example}You are in a room.\nYour task is to: put a cup on the shelf.\n>");
        check(&begin, "put a cup on the shelf.", 0, None);
        let first = format!("{begin} go to shelf 1\nOn the shelf 1, you see a pen.\nAnd a book.\n>");
        let result = "On the shelf 1, you see a pen.\nAnd a book.";
        check(&first, "put a cup on the shelf.", 1, Some(("go", "to shelf 1", result)));
        let second = format!("{first} think: it is not here\nOK.\n>");
        check(&second, "put a cup on the shelf.", 2, Some(("think", ": it is not here", "OK.")));
    }

    #[test]
    fn other_prompts_have_no_history() {
        for text in ["", "> quoted\nYour task is to: answer.", "Your task is to: answer.\nNow.", "> a\n> b"] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
