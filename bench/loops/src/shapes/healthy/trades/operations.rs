//! Operators and clerks who do one thing after the other.

use serde_json::json;

use super::agent;
use crate::conversation::Tool;
use crate::material::reworded::spin;
use crate::material::volatile::uuid;
use crate::material::words;
use crate::rng::{BASE36, HEX};
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![false;
        temporary_uploads_converted, hosts_patched, flaky_installs, runbook_words_repeat, invoices_booked, alerts_silenced,
        containers_inspected]
}

/// Uploads with random names, all converted with the same words.
fn temporary_uploads_converted(run: &mut Run) {
    let mut chat = agent(run, "You convert documents.", &["convert"], "Convert all uploads of today to PDF/A.");
    run.pace = 800..=3_000;
    for _ in 0..66 {
        let name = format!("/tmp/upload_{}.docx", run.rng.text(BASE36, 8));
        run.act(&mut chat, "", Tool::new("convert", json!({"file": name, "to": "pdfa"})), "converted");
    }
}

/// One host after the other is patched; every one answers the same.
fn hosts_patched(run: &mut Run) {
    let mut chat = agent(run, "You operate servers.", &["ssh_exec"], "Patch the fleet, host by host, and reboot.");
    for host in 1..=36 {
        let host = format!("node-{host:02}.{}.example", run.rng.pick(words::CITIES).to_lowercase());
        let patch = json!({"host": host, "command": "sudo dnf -y update --security"});
        run.act(&mut chat, "", Tool::new("ssh_exec", patch), "Complete!");
        let check = json!({"host": host, "command": "needs-restarting -r"});
        run.act(&mut chat, "", Tool::new("ssh_exec", check), "Reboot should not be necessary.");
    }
}

/// Each package needs some tries, 20 seconds and more apart, before the mirror answers.
fn flaky_installs(run: &mut Run) {
    let mut chat =
        agent(run, "You set up machines.", &["shell"], "Install everything in requirements.txt, one by one.");
    while run.len() < 64 {
        let package = words::identifier(&mut run.rng);
        let tool = Tool::new("shell", json!({ "command": format!("pip install {package}") }));
        for _ in 0..run.rng.count(2..=4) {
            let error = format!("ERROR: Could not fetch {package}: Read timed out. (read timeout=15)");
            run.act_failing(&mut chat, "", tool.clone(), &error);
            run.wait(18_000..=26_000);
        }
        let done = format!("Successfully installed {package}-{}.{}.0", run.rng.range(0..=9), run.rng.range(0..=30));
        run.act(&mut chat, "", tool, &done);
    }
}

/// The agent says the same sentence before every step; the steps are done and differ.
fn runbook_words_repeat(run: &mut Run) {
    let mut chat = agent(
        run,
        "You follow runbooks.",
        &["set_flag"],
        "Roll the new pricing out, tenant by tenant, as the runbook says.",
    );
    for _ in 0..64 {
        let tenant = format!("{}-{}", run.rng.pick(words::MODULES), run.rng.text(HEX, 4));
        let say = "Proceeding with the next tenant according to the runbook, as agreed with the release manager.";
        let input = json!({"tenant": tenant, "flag": "pricing_v2", "value": true});
        run.act(&mut chat, say, Tool::new("set_flag", input), "flag set");
    }
}

fn invoices_booked(run: &mut Run) {
    let mut chat = agent(run, "Sie sind Buchhalter.", &["buchen"], "Bitte alle Rechnungen aus dem Eingang verbuchen.");
    for _ in 0..64 {
        let input = json!({"beleg": uuid(&mut run.rng), "konto": run.rng.pick(&["4400", "4930", "4210"]),
            "betrag": format!("{},{:02}", run.rng.range(12..=4_000), run.rng.range(0..=99))});
        let say = spin(&mut run.rng, "[|Der nächste Beleg.|Weiter.]");
        run.act(&mut chat, &say, Tool::new("buchen", input), "verbucht");
    }
}

/// Alert after alert is looked at and silenced; most have the same cause.
fn alerts_silenced(run: &mut Run) {
    let mut chat = agent(run, "You are on call.", &["get_alert", "silence_alert"], "Work off the alerts of the night.");
    for _ in 0..34 {
        let id = format!("ALR-{}", run.rng.range(10_000..=99_999));
        let host = format!("{}-{}", run.rng.pick(words::MODULES), run.rng.range(1..=40));
        let seen = json!({"id": id, "host": host, "cause": "disk almost full", "severity": "warning"}).to_string();
        run.act(&mut chat, "", Tool::new("get_alert", json!({ "id": id })), &seen);
        let input = json!({"id": id, "hours": 4});
        run.act(&mut chat, "", Tool::new("silence_alert", input), r#"{"silenced":true}"#);
    }
}

/// Many containers are looked at once each; nearly all are in the same state.
fn containers_inspected(run: &mut Run) {
    let task = "Tell me which containers are not healthy.";
    let mut chat = agent(run, "You know Docker well.", &["docker_inspect"], task);
    for _ in 0..66 {
        let state = if run.rng.chance(92) { "running (healthy)" } else { "restarting" };
        let id = run.rng.text(HEX, 12);
        run.act(&mut chat, "", Tool::new("docker_inspect", json!({ "id": id })), state);
    }
}
