//! Agents that write their actions, or their whole history, as text; and messages behind the
//! results of tools.

use serde_json::json;

use crate::client::{Client, killed_at, words};

/// Plays rounds until there were many calls: healthy work is never stopped.
fn check_healthy(round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), None);
}

/// Plays rounds that are stuck from the first one on: they are stopped after at most twelve calls.
fn check_stuck(round: impl FnMut(&mut Client, usize)) {
    let killed_at = killed_at(round);
    assert!(killed_at.is_some_and(|call| call <= 13), "{killed_at:?}");
}

/// A prompt that shows the page and the last action.
fn page_prompt(page: &str, round: usize, action: &str) -> String {
    let action = if round == 0 { "None" } else { action };
    format!("OBSERVATION:\n{page}\nURL: http://shop.example/\nOBJECTIVE: Find a lamp\nPREVIOUS ACTION: {action}")
}

/// A prompt that shows every step so far.
fn scratchpad(steps: usize, step: impl Fn(usize) -> (String, String)) -> String {
    let mut prompt = String::from("Question: Who built the bridge?\nThought 1:");
    for number in 1..=steps {
        let (query, result) = step(number);
        let said = format!(" I look for {}.\nAction {number}: Search[{query}]\n", words(number, 5));
        prompt.push_str(&format!("{said}Observation {number}: {result}\nThought {}:", number + 1));
    }
    prompt
}

#[test]
fn scrolling_through_new_pages_is_healthy() {
    check_healthy(|client, round| {
        client.start_over(&page_prompt(&words(round, 30), round, "scroll [down]"));
        client.hear("scroll [down]");
    });
}

#[test]
fn a_page_that_never_changes_is_a_loop() {
    check_stuck(|client, round| {
        let page = |round: usize| format!("[{}] link 'Lamps'\n[{}] link 'Tables'", 100 + round * 37, 101 + round * 37);
        let id = 100 + round.saturating_sub(1) * 37;
        client.start_over(&page_prompt(&page(round), round, &format!("click [{id}] where [{id}] is link 'Lamps'")));
        client.hear(&format!("I see {}. The next action is ```click [{}]```", words(round, 8), 100 + round * 37));
    });
}

#[test]
fn a_scratchpad_with_new_searches_is_healthy() {
    check_healthy(|client, round| {
        client.start_over(&scratchpad(round, |number| (words(number, 2), words(number + 70, 12))));
        client.hear(&format!("I look for {}.\nAction {}: Search[{}]", words(round, 5), round + 1, words(round + 1, 2)));
    });
}

#[test]
fn a_scratchpad_with_the_same_search_is_a_loop() {
    check_stuck(|client, round| {
        client.start_over(&scratchpad(round, |_| ("bridge".to_owned(), "Could not find it.".to_owned())));
        client.hear(&format!("I look for {}.\nAction {}: Search[bridge]", words(round, 5), round + 1));
    });
}

#[test]
fn a_reminder_behind_every_new_result_is_healthy() {
    check_healthy(|client, round| {
        client.tool("read", &json!({"path": words(round, 1)}), &words(round + 70, 20));
        client.say("Reminder: keep to the rules of this project, and do not stop before all of it works.");
    });
}

#[test]
fn a_reminder_behind_the_same_result_is_a_loop() {
    check_stuck(|client, round| {
        client.tool("make", &json!({"target": "all"}), "error: no rule to make the target");
        client.say(&format!("This was step {round} of 100. Go on until it works."));
    });
}

/// A screen as a kiosk agent sees it: in no layout that is known, with numbers of elements, an
/// advertisement, a counter and a clock that change each time.
fn kiosk_prompt(round: usize, log: &[String], screen: &[String]) -> String {
    let ads = ["Ad: sofas", "Sponsored: learn piano", "Ad: winter tyres"];
    let number = |line: usize| 20 + (round * 7 + line) * 3 % 60;
    let shown = screen.iter().enumerate().map(|(line, text)| format!("  ({}) {text}\n", number(line)));
    let log: String = log.iter().rev().take(6).rev().map(|entry| format!("  - {entry}\n")).collect();
    let visitors = 1_000 + round * 7_919 % 300;
    format!(
        "You operate a kiosk for a customer.\ngoal: order the parts of the list\nclock: 09:{:02}:{:02}\nscreen:\n{}  {}\n  \
         {visitors} visitors online\n  (7) link Contact\n  (9) link Help\nlog:\n{log}",
        round / 60,
        round % 60,
        shown.collect::<String>(),
        ads[round % 3],
    )
}

/// Plays a kiosk agent whose `step` gives the screen, a thought and the action.
fn kiosk(log: &mut Vec<String>, client: &mut Client, round: usize, step: (Vec<String>, String, String)) {
    let (screen, thought, action) = step;
    client.start_over(&kiosk_prompt(round, log, &screen));
    client.hear(&format!("{thought}\n{action}"));
    log.push(format!("{action} because {thought}"));
}

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// The rounds that a memory of the run begins with.
const WARM_UP: usize = 5;

fn warm_up(round: usize) -> (Vec<String>, String, String) {
    let screen = [format!("heading {}", words(round, 2)), format!("text {}", words(round + 300, 6))];
    (screen.to_vec(), words(round, 4), format!("open(\"{}\")", words(round + 900, 1)))
}

/// Plays the steps of a loop behind new ones: it is stopped after at most fourteen calls.
fn check_kiosk_stuck(step: impl Fn(usize) -> (Vec<String>, String, String)) {
    let mut log = Vec::new();
    let killed_at = killed_at(|client, round| {
        kiosk(&mut log, client, round, if round < WARM_UP { warm_up(round) } else { step(round) });
    });
    assert!(killed_at.is_some_and(|call| (WARM_UP + 3..=WARM_UP + 14).contains(&call)), "{killed_at:?}");
}

fn check_kiosk_healthy(step: impl Fn(usize) -> (Vec<String>, String, String)) {
    let mut log = Vec::new();
    check_healthy(|client, round| kiosk(&mut log, client, round, step(round)));
}

#[test]
fn a_button_that_only_complains_is_a_loop_in_any_layout() {
    check_kiosk_stuck(|round| {
        let screen = lines(&[
            "heading Order form",
            "textbox Cost center = ''",
            "button Submit",
            "text Fill in the cost center.",
        ]);
        (screen, words(round, 6), "click(\"Submit\")".to_owned())
    });
}

#[test]
fn two_pages_in_turn_are_a_loop_in_any_layout() {
    check_kiosk_stuck(|round| {
        let (screen, target) = match round % 2 {
            0 => (lines(&["heading Tariffs", "link Basic", "link Details"]), "Details"),
            _ => (lines(&["heading Details", "text Valid until it is revoked", "link Back"]), "Back"),
        };
        (screen, words(round, 6), format!("click(\"{target}\")"))
    });
}

#[test]
fn a_field_that_stays_empty_is_a_loop_in_any_layout() {
    check_kiosk_stuck(|round| {
        let screen = lines(&["heading Search", "textbox Word = ''", "button Go", "text Enter a word."]);
        let action = if round % 2 == 0 { "type(\"Word\", \"opening hours\")" } else { "click(\"Go\")" };
        (screen, words(round, 6), action.to_owned())
    });
}

#[test]
fn a_form_for_many_people_is_healthy_in_any_layout() {
    check_kiosk_healthy(|round| {
        let person = words(round / 3, 2);
        let form = |name: &str, team: &str| {
            vec![
                "heading New member".to_owned(),
                format!("textbox Name = '{name}'"),
                format!("textbox Team = '{team}'"),
                "button Save".to_owned(),
            ]
        };
        match round % 3 {
            0 => (form("", ""), "The next one.".to_owned(), format!("type(\"Name\", \"{person}\")")),
            1 => (form(&person, ""), "Now the team.".to_owned(), "type(\"Team\", \"sales\")".to_owned()),
            _ => (form(&person, "sales"), "It is complete.".to_owned(), "click(\"Save\")".to_owned()),
        }
    });
}

#[test]
fn pages_of_rows_are_healthy_in_any_layout() {
    check_kiosk_healthy(|round| {
        let row = |line: usize| format!("row {} | {}", round * 31 + line, (round * 7_919 + line * 104_729) % 9_973);
        let mut screen: Vec<String> = (0..6).map(row).collect();
        screen.push("link Next page".to_owned());
        (screen, "I noted these rows.".to_owned(), "click(\"Next page\")".to_owned())
    });
}

#[test]
fn rows_that_are_deleted_one_after_the_other_are_healthy_in_any_layout() {
    check_kiosk_healthy(|round| {
        let mut screen: Vec<String> = (round..round + 9).map(|row| format!("row {}", words(row, 2))).collect();
        screen.push("button Delete first".to_owned());
        (screen, "One more of them.".to_owned(), "click(\"Delete first\")".to_owned())
    });
}

#[test]
fn an_export_whose_count_rises_is_healthy_in_any_layout() {
    check_kiosk_healthy(|round| {
        let screen = vec![
            "heading Export".to_owned(),
            format!("text {} of 5000 records", round * 61),
            "button Refresh".to_owned(),
        ];
        (screen, "I look how far it is.".to_owned(), "click(\"Refresh\")".to_owned())
    });
}
