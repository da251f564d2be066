//! Loops in ever other words, and work that looks like them.

use serde_json::json;

use crate::client::{Client, killed_at, words};

/// Plays rounds until the kill and checks at which call it comes.
fn check(expected: Option<usize>, round: impl FnMut(&mut Client, usize)) {
    assert_eq!(killed_at(round), expected);
}

const QUERIES: [&str; 6] = [
    "akt urodzenia Jana Kowalskiego",
    "wpis urodzenia Kowalski 1887",
    "Kowalski Jan akt chrztu",
    "metryka urodzenia Jan Kowalski",
    "akt chrztu Kowalski 1887",
    "parafia wpis urodzenia Jana",
];

fn query(round: usize) -> String {
    format!("{} {}", QUERIES[round % 6], words(round / 6, 1))
}

#[test]
fn searches_in_other_words_that_find_nothing_in_any_language() {
    check(Some(9), |client, round| {
        client.tool("szukaj", &json!({"zapytanie": query(round)}), "Brak wyników wyszukiwania.");
    });
}

#[test]
fn searches_in_other_words_whose_result_repeats_them() {
    check(Some(8), |client, round| {
        let query = query(round);
        client.tool("search", &json!({ "query": query }), &format!("There is no entry for {query} here."));
    });
}

#[test]
fn searches_in_other_words_with_the_same_hit_and_another_score() {
    check(Some(8), |client, round| {
        let hit = format!("La piscina municipal abre de 10 a 20 h todos los días, relevancia 0.2{}", 17 * round % 10);
        client.tool("buscar", &json!({"texto": query(round)}), &hit);
    });
}

#[test]
fn searches_for_ever_other_things_go_on() {
    check(None, |client, round| {
        client.tool("search", &json!({"query": words(round, 3)}), &format!("The only entry is {}", words(round, 6)));
    });
}

#[test]
fn records_in_the_same_state_go_on() {
    check(None, |client, round| {
        client.tool("parcel_status", &json!({"parcel": format!("P-{}", 4_000 + round)}), "on its way to the customer");
    });
}

const FAREWELLS: [&str; 5] = [
    "Thank you so much, have a lovely evening!",
    "Have a lovely day, and thank you!",
    "A lovely evening to you, so long!",
    "So much thanks to you, have a day!",
    "Thank you, and have a day to you!",
];

#[test]
fn farewells_that_are_worded_anew_each_time() {
    check(Some(10), |client, round| {
        client.hear(FAREWELLS[(round * 3 + round / 5) % 5]);
        client.say(FAREWELLS[(round * 2 + round / 3) % 5]);
    });
}

#[test]
fn a_chat_in_which_something_new_is_said_goes_on() {
    check(None, |client, round| {
        client.hear(&format!("{} By the way: {}.", FAREWELLS[round % 5], words(round, 4)));
        client.say("Go on, please.");
    });
    check(None, |client, round| {
        client.hear("Understood, thank you.");
        client.say(&format!("Please remember {} for me.", words(round, 1)));
    });
}

#[test]
fn a_failure_that_counts_its_tries() {
    check(Some(5), |client, round| {
        let failure = format!("build #{} failed: the signing key has expired", 7_100 + round);
        client.tool("trigger_build", &json!({"branch": "main"}), &failure);
    });
}

#[test]
fn figures_of_something_that_lives() {
    check(None, |client, round| {
        let latency = [311, 417, 354, 541, 402, 388][round % 6];
        let metrics = json!({"p95_ms": latency, "rps": 855 + round * 7 % 90});
        client.tool("metrics", &json!({"service": "checkout"}), &metrics.to_string());
        if round % 2 == 1 {
            client.tool("scale", &json!({"service": "checkout", "replicas": round}), "scaled");
        }
    });
}

#[test]
fn a_size_that_could_be_a_time() {
    check(None, |client, round| {
        client.tool(
            "bash",
            &json!({"command": "stat -c %s dump.pbf"}),
            &(1_617_126_636 + round * 44_588_581).to_string(),
        );
    });
}

#[test]
fn a_game_that_is_moved_by_the_same_calls() {
    check(None, |client, round| {
        let direction = ["left", "down"][round % 2];
        let cell = |place: usize| 2 << ((round * 7 + place * 5) % 6);
        let board = format!(
            "score {} {} {} {} {} {} {} {}",
            round * 8,
            cell(1),
            cell(2),
            cell(3),
            cell(4),
            cell(5),
            cell(6),
            cell(7)
        );
        client.tool("move", &json!({ "direction": direction }), &board);
    });
}

#[test]
fn ids_of_url_safe_and_short_alphabets_hide_nothing() {
    let ids = ["-JRMQN75kqPVTkTov5FKh", "tKxmfcXz-cklfzowcss1T", "MZc7yX29ZitneMxzqzPRn", "yvlosw2qEGrMLe9YWAEsE"];
    check(Some(5), |client, round| {
        let result = format!(r#"{{"queryId": "{}", "took_ms": {}, "hits": []}}"#, ids[round % 4], 13 + round * 11 % 30);
        client.tool("tickets_find", &json!({"customer": "Szabo", "text": "scanner"}), &result);
    });
    let references = ["CHG-L7nG5GP9", "CHG-EGG9tYuZ", "CHG-iZOJjF6U", "CHG-u6KmYneP"];
    check(Some(5), |client, round| {
        let refusal = format!("Rejected: change freeze until January. ref {}", references[round % 4]);
        client.tool("deploy", &json!({"release": "7.4"}), &refusal);
    });
}
