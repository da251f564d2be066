//! Words without work: thanks, excuses, nothing at all.

use serde_json::json;

use super::{agent, go_round};
use crate::conversation::Tool;
use crate::material::reworded::spin;
use crate::material::words;
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true; thanks_in_german, excuses, silent_model, same_refusal, reworded_briefs, reworded_question_slowly, fresh_summary_same_work]
}

/// Two agents, each of which answers what the other said.
fn thanks_in_german(run: &mut Run) {
    let mut chat = agent(run, "Sie vertreten den Käufer.", &[], "Guten Tag, das Angebot liegt bei. Passt das für Sie?");
    go_round(run, 30, |run, _| {
        let own = spin(
            &mut run.rng,
            "[Vielen Dank|Herzlichen Dank|Besten Dank] für [die Bestätigung|Ihre Nachricht|die Rückmeldung]! [Wir freuen uns auf die Zusammenarbeit.|Auf gute Zusammenarbeit.]",
        );
        run.answer(&mut chat, &own);
        chat.push_user(&spin(
            &mut run.rng,
            "[Gern geschehen|Sehr gern|Danke ebenfalls]! [Ihnen einen schönen Tag.|Bis bald.|Wir freuen uns auch.]",
        ));
    });
}

fn excuses(run: &mut Run) {
    let mut chat = agent(run, "You write reports.", &[], "Write the report on the pilot plant, please.");
    go_round(run, 30, |run, _| {
        let text = spin(
            &mut run.rng,
            "[I am sorry|Apologies|My apologies], I [forgot|missed|left out] the [table|figures|numbers]. I [will add them|correct that|fix it] [now|right away|immediately].",
        );
        run.answer(&mut chat, &text);
        chat.push_user(&spin(
            &mut run.rng,
            "[The table is still missing.|There is still no table.|Still no table in it.]",
        ));
    });
}

/// Nothing is answered; the client asks to go on.
fn silent_model(run: &mut Run) {
    let mut chat = agent(run, "You summarise calls.", &[], "Summarise the call with the landlord.");
    go_round(run, 30, |run, _| {
        run.answer(&mut chat, "");
        chat.push_user("Please continue.");
    });
}

fn same_refusal(run: &mut Run) {
    let mut chat = agent(run, "You are careful.", &[], "Delete the old backups.");
    go_round(run, 30, |run, _| {
        let refusal = spin(
            &mut run.rng,
            "I cannot [delete|remove] backups without [the approval|a confirmation] of the owner. [Please ask them.|Who is that?]",
        );
        run.answer(&mut chat, &refusal);
        chat.push_user("You have the approval. Delete the old backups.");
    });
}

/// A sub-agent for the same task again and again, in other words each time, with the same report.
fn reworded_briefs(run: &mut Run) {
    let mut chat = agent(run, "You lead a team of agents.", &["delegate"], "Find out why customers leave.");
    go_round(run, 26, |run, _| {
        let brief = spin(
            &mut run.rng,
            "[Find out|Determine|Investigate|Analyse] [why|for what reason] [our customers|users|subscribers] [leave|cancel|churn] [and report|; report back|and tell me]",
        );
        let mut child = run.open_with("You are an analyst.", &["survey"], None);
        child.push_user(&brief);
        run.act(
            &mut child,
            "",
            Tool::new("survey", json!({"topic": "churn"})),
            "No survey of that name exists in this workspace.",
        );
        let report = spin(
            &mut run.rng,
            "I could not [find|access|locate] any survey [data|results] about churn[.|, sorry.| in the workspace.]",
        );
        run.answer(&mut child, &report);
        run.act(&mut chat, "", Tool::new("delegate", json!({ "task": brief })), &report);
    });
}

/// The same asked again and again in other words, half a minute to a minute and a half apart.
fn reworded_question_slowly(run: &mut Run) {
    run.pace = 30_000..=90_000;
    let mut chat = agent(
        run,
        "You look after a plant.",
        &["valve_state"],
        "Watch the valve and open it when the pressure allows.",
    );
    go_round(run, 30, |run, _| {
        let say = spin(&mut run.rng, "[Checking|Looking at|Reading] the valve [again|once more|now].");
        run.act_failing(
            &mut chat,
            &say,
            Tool::new("valve_state", json!({"id": "V7"})),
            "Error: the controller rejected the credentials",
        );
    });
}

/// After every compaction the same pages are read again, whatever the summary says.
fn fresh_summary_same_work(run: &mut Run) {
    let session = run.session();
    let mut chat = run.open_with("You audit contracts.", &["open_contract"], session);
    let contracts: Vec<(String, String)> =
        (0..5).map(|_| (words::identifier(&mut run.rng), words::task(&mut run.rng))).collect();
    go_round(run, 8, |run, _| {
        chat.clear();
        let state = words::plan_steps(&mut run.rng, 3).join("; ");
        chat.push_user(&format!(
            "{} {state}",
            spin(&mut run.rng, "[Summary so far:|The conversation was compacted. State:|What happened before:]")
        ));
        for (name, text) in &contracts {
            let say = words::remark(&mut run.rng);
            run.act(&mut chat, &say, Tool::new("open_contract", json!({ "name": name })), text);
        }
    });
}
