//! Cycles of several steps, also with something that seems to work in between.

use serde_json::json;

use super::{agent, begin_work, go_round};
use crate::conversation::{Conversation, Tool};
use crate::material::reworded::{self, spin};
use crate::material::{code, words};
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true;
        restart_check_log, seven_dashboards, toggled_setting, same_edit_succeeds, reads_between_same_failure,
        error_bursts_between_plans, plan_never_begun, same_words_fresh_reads]
}

/// Restarting works every time and changes nothing.
fn restart_check_log(run: &mut Run) {
    let task = "The mail relay does not deliver. Repair it.";
    let mut chat = agent(run, "You are an operator.", &["restart_service", "health", "journal"], task);
    begin_work(run, &mut chat, "journal");
    go_round(run, 14, |run, _| {
        let say = reworded::again(&mut run.rng, "a restart");
        run.act(&mut chat, &say, Tool::new("restart_service", json!({"unit": "relay"})), "restarted");
        run.act(&mut chat, "", Tool::new("health", json!({"unit": "relay"})), "degraded: queue is blocked");
        run.act(&mut chat, "", Tool::new("journal", json!({"unit": "relay"})), "relay: cannot lock spool directory");
    });
}

/// Seven panels one after the other, over and over, each with other words.
fn seven_dashboards(run: &mut Run) {
    let task = "Warum ist der Umsatz im Februar eingebrochen?";
    let mut chat = agent(run, "Du analysierst Geschäftszahlen.", &["panel"], task);
    let panels: Vec<(&str, String)> =
        run.rng.sample(words::MODULES, 7).into_iter().map(|name| (name, words::task(&mut run.rng))).collect();
    go_round(run, 7, |run, _| {
        for (name, text) in &panels {
            let say = spin(
                &mut run.rng,
                "[Ich sehe mir|Als Nächstes prüfe ich|Vielleicht erklärt es] [die Kurve|diese Zahlen|das Panel] [an|noch einmal|genauer].",
            );
            run.act(&mut chat, &say, Tool::new("panel", json!({ "name": name })), text);
        }
    });
}

/// A setting is switched on and off again; the check says the same each time.
fn toggled_setting(run: &mut Run) {
    let mut chat = agent(run, "You tune databases.", &["set_parameter", "explain"], "Make the report query fast.");
    begin_work(run, &mut chat, "explain");
    go_round(run, 12, |run, _| {
        for value in ["on", "off"] {
            let say = reworded::again(&mut run.rng, "the parameter");
            let input = json!({"name": "enable_hashjoin", "value": value});
            run.act(&mut chat, &say, Tool::new("set_parameter", input), "SET");
            run.act(
                &mut chat,
                "",
                Tool::new("explain", json!({"query": "report"})),
                "Seq Scan on orders (cost=0.00..9000.00)",
            );
        }
    });
}

/// The very same edit is made again and again and "succeeds"; the test goes on failing.
fn same_edit_succeeds(run: &mut Run) {
    let mut chat = agent(run, "You repair scripts.", &["write_file", "run_script"], &words::task(&mut run.rng.clone()));
    begin_work(run, &mut chat, "read_file");
    let text = code::lines(&mut run.rng, 5);
    go_round(run, 16, |run, _| {
        let say = spin(
            &mut run.rng,
            "[Now it is right.|I write the corrected version.|This should fix it.|The fix goes in.]",
        );
        run.act(&mut chat, &say, Tool::new("write_file", json!({"path": "etl.sh", "content": text})), "file written");
        let error = "etl.sh: line 4: unexpected end of file";
        run.act_failing(&mut chat, "", Tool::new("run_script", json!({"path": "etl.sh"})), error);
    });
}

/// One or two other files are read between two tries that fail alike.
fn reads_between_same_failure(run: &mut Run) {
    let mut chat = agent(run, "You port software.", &["read_source", "build"], "Build it for the new board.");
    go_round(run, 16, |run, _| {
        for path in words::paths(&mut run.rng, 1) {
            let path = format!("{}/{path}", run.len());
            let text = code::listing(&mut run.rng, 1, 5);
            run.act(&mut chat, "", Tool::new("read_source", json!({ "path": path })), &text);
        }
        let error = "ld: undefined reference to `board_init'\nmake: *** [firmware.elf] Error 1";
        run.act_failing(&mut chat, "", Tool::new("build", json!({"target": "firmware"})), error);
    });
}

/// The same error three times, then a new plan, then the same error again.
fn error_bursts_between_plans(run: &mut Run) {
    let mut chat = agent(run, "You migrate data.", &["migrate", "update_plan"], "Migrate the archive.");
    go_round(run, 9, |run, _| {
        let steps = reworded::plan(&mut run.rng, "the archive");
        run.act(&mut chat, "", Tool::new("update_plan", json!({ "steps": steps })), "Plan updated");
        for batch in 0..3 {
            let input = json!({"batch": run.rng.range(1..=400), "mode": run.rng.pick(&["fast", "safe"]), "try": batch});
            run.act_failing(
                &mut chat,
                "",
                Tool::new("migrate", input),
                "MigrationError: foreign key violation on owner_id",
            );
        }
    });
}

/// A plan in words, repeated; the reader only answers that it may begin.
fn plan_never_begun(run: &mut Run) {
    let mut chat: Conversation = agent(run, "You plan and then do.", &["edit"], &words::task(&mut run.rng.clone()));
    let topic = run.rng.pick(words::MODULES);
    go_round(run, 30, |run, _| {
        let steps: String = reworded::plan(&mut run.rng, topic)
            .iter()
            .enumerate()
            .map(|(place, step)| format!("{}. {step}\n", place + 1))
            .collect();
        let head = spin(&mut run.rng, "[Here is my plan|My updated plan|A refined plan|The plan]:");
        run.answer(&mut chat, &format!("{head}\n{steps}I will start now."));
        chat.push_user(&spin(&mut run.rng, "[Go ahead.|OK, do it.|Yes, please start.|Continue.]"));
    });
}

/// The same long sentence before every step; each step reads another file and nothing comes of it.
fn same_words_fresh_reads(run: &mut Run) {
    let mut chat = agent(run, "You repair a website.", &["open_page"], "The checkout button is grey. Make it green.");
    let say = "I need to understand how the checkout page is put together before I can change the colour of the button, so I \
        look at the next template to find the place where the style of the button is defined.";
    go_round(run, 30, |run, lap| {
        let text = code::listing(&mut run.rng, 1, 5);
        let input = json!({ "template": format!("{}_{lap}", run.rng.pick(words::MODULES)) });
        run.act(&mut chat, say, Tool::new("open_page", input), &text);
    });
}
