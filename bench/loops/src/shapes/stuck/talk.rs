//! Loops of words: apologies, thanks, narration, nothing at all.

use super::super::steps::begin;
use super::super::{Shape, shapes};
use super::LAPS;
use crate::conversation::Answer;
use crate::material::{code, reworded, words};
use crate::run::Run;

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true;
        apologies, two_agents_thank, empty_answers, empty_answers_slow, narration_without_calls, narration_fresh_calls,
        same_answer_to_continue, same_complaint, two_conversations_thank]
}

/// The user complains in other words, the agent apologises in other words.
fn apologies(run: &mut Run) {
    let (_, mut chat) = begin(run);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        chat.push_user(run.rng.pick(&[
            "That is still wrong.",
            "No, that is not right.",
            "Still not correct, try again.",
        ]));
        let text = reworded::apology(&mut run.rng);
        run.answer(&mut chat, &text);
    }
}

/// Two agents behind one name thank each other; the words go round.
fn two_agents_thank(run: &mut Run) {
    let session = run.session();
    let mut chat = run.open_with("You are a partner agent. Coordinate the delivery.", &[], session);
    chat.push_user(&words::task(&mut run.rng));
    run.answer(&mut chat, "The delivery is arranged.");
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let said = reworded::thanks(&mut run.rng);
        chat.push_user(&said);
        let text = reworded::thanks(&mut run.rng);
        run.answer(&mut chat, &text);
    }
}

/// 200 OK without any content; the client sends the same again.
fn empty_answers(run: &mut Run) {
    let (_, chat) = begin(run);
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        run.send(&chat, Some(&Answer::default()));
    }
}

fn empty_answers_slow(run: &mut Run) {
    let (_, chat) = begin(run);
    run.pace = 50_000..=65_000;
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        run.send(&chat, Some(&Answer::default()));
    }
}

/// The agent announces what it will do and does not do it; the harness says "continue".
fn narration_without_calls(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let goal = format!("the {} document", run.rng.pick(words::MODULES));
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        let text = run.rng.pick(&[
            "Now let me write {}.",
            "I will now write {}.",
            "Let me write {} now.",
            "Next, I write {}.",
        ]);
        run.answer(&mut chat, &text.replace("{}", &goal));
        chat.push_user("continue");
    }
}

/// The same narration with a fresh call each time that leads nowhere.
fn narration_fresh_calls(run: &mut Run) {
    let (kit, mut chat) = begin(run);
    let say = format!(
        "Now I have enough context. Let me write the {} document with all the details.",
        run.rng.pick(words::MODULES)
    );
    for lap in 0..30 {
        if lap == 1 {
            run.mark_stuck();
        }
        let path = words::path(&mut run.rng);
        let text = code::listing(&mut run.rng, 1, 4);
        run.act(&mut chat, &say, kit.read(&path), &text);
    }
}

fn same_answer_to_continue(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let answer = format!("All done! The {} now works as requested and all tests pass.", run.rng.pick(words::MODULES));
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        run.answer(&mut chat, &answer);
        chat.push_user("Please continue until the task is done.");
    }
}

/// The model says it cannot, the harness insists with the whole task.
fn same_complaint(run: &mut Run) {
    let (_, mut chat) = begin(run);
    let task = words::task(&mut run.rng);
    let answer = "I do not have access to the repository, so I cannot make this change. Please grant me access.";
    for lap in 0..LAPS {
        if lap == 1 {
            run.mark_stuck();
        }
        chat.push_user(&task);
        run.answer(&mut chat, answer);
    }
}

/// Two agents with a conversation each: what one says is what the other hears.
fn two_conversations_thank(run: &mut Run) {
    let sessions = [run.session(), run.session()];
    let mut chats = sessions.map(|session| run.open_with("You are one of two agents that plan a trip.", &[], session));
    let mut said = words::task(&mut run.rng);
    for turn in 0..LAPS {
        if turn == 2 {
            run.mark_stuck();
        }
        let chat = &mut chats[turn % 2];
        chat.push_user(&said);
        said = reworded::thanks(&mut run.rng);
        run.answer(chat, &said);
    }
}
