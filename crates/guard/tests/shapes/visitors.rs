//! Several people or jobs behind one agent, and things that are looked up or waited for one after
//! the other: each look-alike with the loop that is most like it.

use serde_json::json;

use crate::client::{Client, killed_at, words};

fn check(expected: Option<usize>, round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), expected);
}

const GREETING: &str = "Good day! How can I help you?";

#[test]
fn visitors_begin_with_the_same_button() {
    check(None, |client, round| {
        client.start_over("Where is my parcel?");
        client.hear("I can look that up. In which city do you live?");
        if round % 3 == 0 {
            client.say(&words(round, 2));
            client.hear(&format!("It is in {} now.", words(round, 3)));
        }
    });
}

#[test]
fn a_survey_asks_every_caller_the_same() {
    check(None, |client, round| {
        client.start_over("Hello?");
        client.hear("Are you satisfied with the buses, from one to ten?");
        client.say(["seven", "ten", "two", "seven"][round % 4]);
        client.hear("Thank you. Do you use them more than once a week?");
        client.say(["yes", "no"][round % 2]);
        client.hear("Thank you for your time. Goodbye.");
    });
}

#[test]
fn an_agent_starts_over_and_is_greeted_alike() {
    check(Some(6), |client, _| {
        client.start_over("Hello, I am back");
        client.hear(GREETING);
    });
}

#[test]
fn a_client_asks_for_a_topic_beside_the_work() {
    let topic = |client: &mut Client| {
        client.start_over("continue");
        client.hear(r#"{"isNewTopic": false, "title": null}"#);
    };
    check(None, |client, round| {
        client.start_over(&format!("Mend what the remark of the review is about: {}", words(round, 6)));
        client.tool("read_file", &json!({"path": words(round, 1)}), &words(round, 9));
        client.hear("I have read it.");
        topic(client);
    });
    check(Some(6), |client, _| topic(client));
}

#[test]
fn the_same_voice_commands_over_days() {
    let command = |pause: i64| {
        move |client: &mut Client, round: usize| {
            client.start_over(["lights out", "lights on"][round % 2]);
            client.tool("set_light", &json!({"on": round % 2 == 1}), r#"{"ok":true}"#);
            client.hear("Done.");
            client.wait(pause);
        }
    };
    check(None, command(3_000));
    assert!(killed_at(command(3)).is_some());
}

#[test]
fn one_city_after_the_other_is_looked_up() {
    let cities = ["Lisbon", "Porto", "Ghent", "Tartu", "Riga", "Vilnius", "Krakow", "Brno", "Graz", "Basel", "Turin"];
    check(None, |client, round| {
        let (city, topic) = (cities[round % 11], round / 11);
        let asked = format!("{city} rent per month");
        let result = format!("In {city} a flat with two rooms costs {} EUR per month.", 410 + round * 137 % 900);
        if topic == 0 {
            client.tool("web_search", &json!({"query": asked}), &result);
        } else {
            client.tool("write_file", &json!({"path": words(round, 1)}), "written");
        }
    });
    check(Some(8), |client, round| {
        let queries = ["price per month seat", "seat price", "price month offer", "offer price seat per"];
        let result = format!("1. The page of offers for offices and schools, with conditions (score 0.{})", 71 + round);
        client.tool("web_search", &json!({"query": queries[round % 4]}), &result);
    });
}

#[test]
fn the_same_move_on_another_board() {
    let board = |round: usize| {
        let cell = |place: usize| [2, 4, 8, 16][(round * 7 + place * place * 3) % 4];
        let cells: Vec<usize> = (0..16).map(|place| if place < 2 { 256 } else { cell(place) }).chain([round]).collect();
        json!({ "board": cells }).to_string()
    };
    check(None, |client, round| client.tool("move", &json!({"direction": "left"}), &board(round)));
    check(Some(5), |client, _| client.tool("move", &json!({"direction": "left"}), &board(1)));
}

#[test]
fn the_same_announcement_in_another_order() {
    let announced = [
        "I have all the sources, so I will write the report now.",
        "Now I have all the sources, so I will write the report.",
    ];
    let found = ["(empty)", "no such thing was seen", "it was quiet that day"];
    check(Some(12), |client, round| {
        let arguments = json!({"word": words(round, 1)});
        client.say_and_call(announced[round % 2], "lookup", &arguments, found[round % 3]);
    });
    check(None, |client, round| {
        let arguments = json!({"tenant": words(round, 1)});
        client.say_and_call("Now I will provision the next tenant on the list for you.", "provision", &arguments, "ok");
    });
}

#[test]
fn a_supervisor_starts_a_task_again_with_another_id() {
    check(Some(8), |client, round| {
        let id = 0x8715_e81b_fade_11d3_u64.wrapping_mul(round as u64 * 2 + 1);
        client.start_session(round, &format!(
            "Job {id:016x}{id:016x}: load the price list prices.xlsx into the shop and report how many rows changed."
        ));
        client.tool("load_file", &json!({"path": "prices.xlsx"}), "error: prices.xlsx does not exist");
        client.hear("Loading failed because prices.xlsx does not exist.");
    });
}

#[test]
fn a_new_process_is_killed_in_every_lap() {
    let stopped = killed_at(|client, round| {
        let process = (40_000 + round * 7_919 % 20_000).to_string();
        client.tool("bash", &json!({"command": "lsof -ti :3000"}), &process);
        client.tool("bash", &json!({"command": format!("kill -9 {process}")}), "");
        client.tool(
            "bash",
            &json!({"command": "npm run dev"}),
            "Error: listen EADDRINUSE: address already in use :::3000",
        );
    });
    assert!(stopped.is_some_and(|call| call < 24), "{stopped:?}");
}
