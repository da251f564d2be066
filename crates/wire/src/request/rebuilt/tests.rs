#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use model::ToolCall;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn prompt(screen: &str, log: &[&str]) -> String {
    let log: String = log.iter().map(|entry| format!("* {entry}\n")).collect();
    format!("You operate a kiosk.\ngoal: order the parts\nscreen:\n{screen}\nlog:\n{log}end")
}

fn send(prompts: &mut RebuiltPrompts, agent: &str, text: String) -> (Option<(String, String)>, RunId) {
    let mut asked = Asked { prompt: vec![text.into()], ..Asked::default() };
    let read = RebuiltPrompt::of(&asked).unwrap();
    let run = prompts.place(agent, &read, &mut asked);
    let step = asked.tool_calls.first().map(|call| format!("{} {}", call.name, call.arguments));
    (step.map(|step| (step, asked.tool_results[0].to_string())), run)
}

fn answer(prompts: &mut RebuiltPrompts, run: RunId, text: &str) {
    prompts.answered(run, &Answered { text: text.to_owned(), ..Answered::default() });
}

const CLICK: &str = "I look at it.\nclick(\"Details\")";

#[test]
fn answer_and_what_is_new_are_the_step() {
    let mut prompts = RebuiltPrompts::new(1_000);
    let (first, run) = send(&mut prompts, "a", prompt("(3) link Details", &[]));
    assert_eq!(first, None);
    answer(&mut prompts, run, CLICK);
    let log = ["I look at it. click(\"Details\")"];
    let (second, again) = send(&mut prompts, "a", prompt("(8) link Details\nAd: sofas", &log));
    let (call, nothing) = second.unwrap();
    assert_eq!((call.as_str(), again), ("click \"Details\"", run));
    answer(&mut prompts, run, CLICK);
    let (third, _) = send(&mut prompts, "a", prompt("(5) link Details\nSponsored: tyres", &log));
    assert_eq!(third.unwrap().1, nothing);
    answer(&mut prompts, run, CLICK);
    let (fourth, _) = send(&mut prompts, "a", prompt("(2) heading Details of the order", &log));
    let new = fourth.unwrap().1;
    answer(&mut prompts, run, CLICK);
    let (fifth, _) = send(&mut prompts, "a", prompt("(5) link Details\n(3) heading Details of the order", &log));
    assert!(![nothing, new].contains(&fifth.unwrap().1));
}

#[test]
fn a_prompt_that_is_sent_again_is_the_same_step() {
    let mut prompts = RebuiltPrompts::new(1_000);
    let (_, run) = send(&mut prompts, "a", prompt("(3) link Details", &[]));
    answer(&mut prompts, run, CLICK);
    let next = || prompt("heading Details of the order", &["I look at it. click(\"Details\")"]);
    let (once, _) = send(&mut prompts, "a", next());
    let (twice, _) = send(&mut prompts, "a", next());
    assert!(once.is_some());
    assert_eq!(once, twice);
}

#[test]
fn prompts_without_what_was_answered_are_other_runs() {
    let mut prompts = RebuiltPrompts::new(1_000);
    let (_, run) = send(&mut prompts, "a", prompt("review: it broke after a day", &[]));
    answer(&mut prompts, run, "{\"label\": \"negative\", \"certainty\": \"high\"}");
    let (step, other) = send(&mut prompts, "a", prompt("review: it works well", &[]));
    assert_eq!(step, None);
    assert_ne!(run, other);
    let (step, _) = send(&mut prompts, "another agent", prompt("review", &["label negative certainty high"]));
    assert_eq!(step, None);
}

#[test]
fn the_number_of_an_element_stands_for_its_description() {
    let mut prompts = RebuiltPrompts::new(1_000);
    let (_, run) = send(&mut prompts, "a", prompt("[3] link 'Details'\n[4] link 'Back'", &[]));
    answer(&mut prompts, run, "I look at it.\nclick('3')");
    let log = ["I look at it. click('3')"];
    let (one, _) = send(&mut prompts, "a", prompt("[5] link 'Back'\n[9] link 'Details'", &log));
    answer(&mut prompts, run, "I look at it.\nclick('9')");
    let (other, _) = send(&mut prompts, "a", prompt("[1] link 'Back'\n[2] link 'Details'", &log));
    assert_eq!(one.unwrap().0, other.unwrap().0);
}

/// The steps of a run, each with an answer and the entry that the next prompt has of it.
fn steps(run: &[(Answered, &str)]) -> Vec<(String, String)> {
    let mut prompts = RebuiltPrompts::new(1_000);
    let (mut log, mut steps) = (String::new(), Vec::new());
    for (answered, entry) in run {
        let text = format!("You keep a store.\njob: count the bolts\nlog:\n{log}\nsteps left: {}", log.len());
        let (step, id) = send(&mut prompts, "a", text);
        steps.extend(step);
        prompts.answered(id, answered);
        log.push_str(entry);
    }
    steps
}

fn said(text: &str) -> Answered {
    Answered { text: text.to_owned(), ..Answered::default() }
}

#[test]
fn what_the_model_said_is_told_from_the_result_inside_a_line() {
    let entries = [
        (said("why: the shelf may hold them\nwhat: look shelf north"), "shelf north: nobody answers the bell."),
        (said("why: they could be in there\nwhat: look shelf south"), "shelf south: nobody answers the bell."),
        (said("why: one more place is left\nwhat: look shelf north"), "shelf north: nobody answers the bell."),
        (said("why: it is late by now\nwhat: look shelf west"), "shelf west: forty bolts."),
        (said("why: so it is\nwhat: stop"), ""),
    ];
    let run: Vec<(Answered, String)> = entries
        .into_iter()
        .enumerate()
        .map(|(number, (said, result))| {
            (said.clone(), format!("| {number} | {} => {result} |\n", said.text.replace('\n', " ")))
        })
        .collect();
    let run: Vec<(Answered, &str)> = run.iter().map(|(said, entry)| (said.clone(), entry.as_str())).collect();
    let steps = steps(&run);
    let (calls, results): (Vec<&str>, Vec<&str>) = steps.iter().map(|(call, result)| (&**call, &**result)).unzip();
    assert_eq!(calls, ["look shelf north", "look shelf south", "look shelf north", "look shelf west"]);
    assert_eq!(results[1], results[2]);
    assert!(results[1].contains("nobody answers"), "{}", results[1]);
    assert_ne!(results[3], results[1]);
}

#[test]
fn tool_calls_are_answers_whose_thoughts_do_not_count() {
    let act = |reason: &str, place: &str| {
        let arguments = format!(r#"{{"reason": "{reason}", "do": {{"open": {{"place": "{place}"}}}}}}"#);
        let call = ToolCall { name: "act".into(), arguments: arguments.into() };
        Answered { tool_calls: vec![call], ..Answered::default() }
    };
    let run = [
        (act("it comes first", "box of bolts"), "1. open box of bolts -> closed\n"),
        (act("once again", "box of bolts"), "2. open box of bolts -> closed\n"),
        (act("so", "lid"), ""),
    ];
    let steps = steps(&run);
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0].0, r#"act_open {"open":{"place": "box of bolts"}}"#);
    assert_eq!(steps[0].0, steps[1].0);
}

#[test]
fn the_number_of_an_element_of_a_page_stands_for_its_description() {
    let mut prompts = RebuiltPrompts::new(1_000);
    let mut acts = Vec::new();
    let mut before = "None".to_owned();
    for number in [7, 12, 40] {
        let page = format!("[1] RootWebArea 'Orders'\n\t[{number}] link 'Back'\n\t[{}] button 'Send'", number + 3);
        let text = format!("OBSERVATION:\n{page}\nURL: http://a.example\nOBJECTIVE: order\nPREVIOUS ACTION: {before}");
        let body = serde_json::json!({"messages": [{"role": "user", "content": text}]}).to_string();
        let mut asked = crate::read_request(crate::Dialect::ChatCompletions, body.as_bytes()).unwrap();
        let prompt = RebuiltPrompt::of(&asked).unwrap();
        let run = prompts.place("a", &prompt, &mut asked);
        acts.extend(asked.tool_calls.iter().map(|call| format!("{} {}", call.name, call.arguments)));
        before = format!("click [{number}]");
        answer(&mut prompts, run, &format!("I go back. The next action is ```{before}```"));
    }
    assert_eq!(acts.len(), 2);
    assert_eq!(acts[0], acts[1]);
}

proptest! {
    #[test]
    fn any_texts_are_read(texts in vec(("\\PC{0,300}(\n[^a]{0,60}){3,9}", "\\PC{0,80}"), 1..8)) {
        let mut prompts = RebuiltPrompts::new(100);
        for (text, said) in texts {
            let mut asked = Asked { prompt: vec![text.into()], ..Asked::default() };
            if let Some(prompt) = RebuiltPrompt::of(&asked) {
                let run = prompts.place("a", &prompt, &mut asked);
                answer(&mut prompts, run, &said);
            }
        }
    }
}

#[test]
fn lines_of_old_runs_are_forgotten() {
    let mut prompts = RebuiltPrompts::new(1_000);
    let lines = |number: u32| (0..10).map(|line| format!("line {number} {line}\n")).collect::<String>();
    let runs: Vec<RunId> =
        (0..500).map(|number| send(&mut prompts, &number.to_string(), prompt(&lines(number), &[])).1).collect();
    assert!(prompts.openings.get(runs[0].opening).is_none());
    assert!(prompts.openings.get(runs[499].opening).is_some());
}
