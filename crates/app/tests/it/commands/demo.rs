//! The demo is the first thing a newcomer runs: it must print the same story every time.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::support::{Run, agentgazer};

#[test]
fn demo_stops_only_the_stuck_agent() {
    let folder = tempfile::tempdir().unwrap();
    let run: Run = agentgazer().args(["demo", "--once"]).env("TMPDIR", folder.path()).output().unwrap().into();
    let story = run.said();
    let calls = |agent: &str| story.lines().filter(|line| line.contains(&format!(" s  {agent} "))).collect::<Vec<_>>();

    let stuck = calls("import-fixer");
    let scores = ["0.0/10.0", "1.0/10.0", "4.0/10.0", "7.0/10.0", "10.0/10.0", "13.0/10.0"];
    for (line, score) in stuck.iter().zip(scores) {
        assert!(line.contains(score), "{score}: {line}");
    }
    let refused = stuck.iter().map(|line| line.contains("refused with 400")).collect::<Vec<_>>();
    assert_eq!(refused, [false, false, false, false, false, true, true], "from the sixth call on: {story}");

    for healthy in ["researcher", "support-chat"] {
        let lines = calls(healthy);
        assert_eq!(lines.len(), 9, "{story}");
        assert!(lines.iter().all(|line| !line.contains("refused")), "{story}");
    }
    assert!(story.contains("import-fixer was stopped: loop score 13.0, threshold 10.0."), "{story}");
    assert!(story.contains("Undisturbed: researcher (9 calls), support-chat (9 calls)."), "{story}");
    assert!(!story.contains('\u{1b}'), "no colours without a terminal");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn the_command_that_the_demo_prints_works_as_it_stands() {
    let folder = tempfile::Builder::new().prefix("demo's data ").tempdir().unwrap();
    let mut demo = agentgazer().arg("demo").env("TMPDIR", folder.path()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines().map(Result::unwrap);
    let command = lines.find(|line| line.contains(" activate import-fixer --data-dir ")).unwrap();
    let activated: Run = Command::new("/bin/sh").env_clear().args(["-c", &command]).output().unwrap().into();
    Command::new("kill").args(["-TERM", &demo.id().to_string()]).status().unwrap();
    assert!(demo.wait().unwrap().success());
    assert!(activated.said().starts_with("import-fixer is active"), "{command}: {activated:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}
