//! The same thing said in other words, again and again.

use crate::rng::Rng;

/// Ways of saying that the same step is tried once more.
const TRY_AGAIN: &[&str] = &[
    "Let me try {} again.",
    "I will now use {} to get what I need.",
    "To continue, {} has to be called first.",
    "The right tool for this request is {}, so I call it.",
    "Hmm, I should check with {} before anything else.",
    "I still need the output of {}. Calling it now.",
    "Perhaps {} gives a better answer this time.",
    "First things first: {}.",
    "Okay, {} is what the task asks for; here goes.",
    "My next step is {}, as planned.",
    "Since I do not have the data yet, I run {}.",
    "It makes sense to look at this with {} once more.",
];

const APOLOGIES: &[&str] = &[
    "I apologize for the confusion. Let me correct that right away.",
    "Sorry about that! I will fix my mistake immediately.",
    "You are right, I am sorry for the oversight. I will correct it.",
    "My apologies for the error. I will make sure to get it right this time.",
    "I'm sorry, that was my mistake. Let me correct it now.",
    "Apologies again for the misunderstanding; I will correct it.",
];

const THANKS: &[&str] = &[
    "Thank you so much for your help! It was a pleasure working with you.",
    "You're very welcome! Thank you for the kind words, it was a pleasure.",
    "Thanks again! I really appreciate working with you.",
    "It was my pleasure! Thank you, and please reach out whenever you need anything.",
    "Thank you, that is very kind! I appreciate it, too.",
];

/// One of the ways to announce `action` again. The same words may come back, as they do in models.
pub(crate) fn again(rng: &mut Rng, action: &str) -> String {
    rng.pick(TRY_AGAIN).replace("{}", action)
}

pub(crate) fn apology(rng: &mut Rng) -> String {
    rng.pick(APOLOGIES).to_owned()
}

pub(crate) fn thanks(rng: &mut Rng) -> String {
    rng.pick(THANKS).to_owned()
}

/// A brief for a sub-agent about `topic`, worded anew.
pub(crate) fn brief(rng: &mut Rng, topic: &str) -> String {
    let templates = [
        "Investigate {} and report what you find.",
        "Please look into {} in depth and tell me your findings.",
        "Your task: find out everything about {}; report back.",
        "I need you to analyse {}. Return a report of the findings.",
        "Research {} thoroughly and summarise your findings for me.",
        "Explore {} and give a full report with all findings.",
    ];
    rng.pick(&templates).replace("{}", topic)
}

/// A search for `topic`, worded anew.
pub(crate) fn query(rng: &mut Rng, topic: &str) -> String {
    let templates = [
        "{}",
        "{} documentation",
        "how to {}",
        "{} example",
        "{} tutorial",
        "{} official docs",
        "about {}",
        "{} guide",
    ];
    rng.pick(&templates).replace("{}", topic)
}

/// A plan with the same steps, worded anew.
pub(crate) fn plan(rng: &mut Rng, topic: &str) -> Vec<String> {
    let sets = [
        ["Analyse {}", "Design the change to {}", "Implement it", "Test it"],
        ["Understand {} first", "Plan the modification of {}", "Write the code", "Verify with tests"],
        ["Review {}", "Sketch a solution for {}", "Build the solution", "Run the test suite"],
        ["Look into {}", "Decide how to change {}", "Make the change", "Check that it works"],
        ["Study how {} works", "Outline the work on {}", "Carry out the work", "Validate the outcome"],
    ];
    rng.pick(&sets).map(|step| step.replace("{}", topic)).to_vec()
}

/// Picks one of the words in each pair of brackets: `[a|b] c` is `a c` or `b c`.
pub(crate) fn spin(rng: &mut Rng, template: &str) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('[') {
        let (choices, behind) = behind.split_once(']').unwrap_or((behind, ""));
        let choices: Vec<&str> = choices.split('|').collect();
        text += before;
        text += rng.pick(&choices);
        rest = behind;
    }
    text + rest
}
