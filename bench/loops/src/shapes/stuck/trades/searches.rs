//! Looking for what is not there, in ever other words or places.

use serde_json::json;

use super::{agent, begin_work, go_round};
use crate::conversation::Tool;
use crate::material::reworded::spin;
use crate::material::words;
use crate::run::Run;
use crate::shapes::{Shape, shapes};

pub(super) fn shapes() -> Vec<Shape> {
    shapes![true; search_in_spanish, folders_without_it, pages_that_echo, rows_never_match, same_page_other_query, same_error_other_inputs]
}

fn search_in_spanish(run: &mut Run) {
    let mut chat = agent(run, "Eres un bibliotecario.", &["buscar"], "Encuentra el catálogo de la exposición de 1931.");
    begin_work(run, &mut chat, "buscar");
    go_round(run, 30, |run, _| {
        let query = spin(
            &mut run.rng,
            "[catálogo|folleto|libro|guía] [de la|sobre la|] [exposición|muestra|feria] [1931|de 1931|año 1931] [Sevilla|Madrid|pdf|original|]",
        );
        let nothing = format!("No se encontraron resultados para «{query}».");
        run.act(&mut chat, "", Tool::new("buscar", json!({ "consulta": query })), &nothing);
    });
}

/// Nothing is printed wherever it is looked for.
fn folders_without_it(run: &mut Run) {
    let mut chat = agent(run, "You know Linux.", &["run"], "Where is the licence file of the scanner?");
    begin_work(run, &mut chat, "run");
    go_round(run, 30, |run, _| {
        let folder = format!(
            "/{}/{}/{}",
            run.rng.pick(&["opt", "usr", "var", "srv"]),
            run.rng.pick(words::MODULES),
            run.rng.pick(words::NOUNS)
        );
        let name = spin(&mut run.rng, "[licen*|*.lic|scanner*|*licence*]");
        run.act(&mut chat, "", Tool::new("run", json!({"command": format!("find {folder} -name '{name}'")})), "");
    });
}

/// The answer repeats the page that was asked for and has no rows.
fn pages_that_echo(run: &mut Run) {
    let mut chat = agent(run, "You reconcile accounts.", &["bookings"], "Find the missing booking.");
    go_round(run, 30, |run, lap| {
        let page = 400 + lap;
        let seen = format!(r#"{{"page":{page},"from":{},"to":{},"rows":[]}}"#, page * 50, page * 50 + 49);
        run.act(&mut chat, "", Tool::new("bookings", json!({ "page": page })), &seen);
    });
}

fn rows_never_match(run: &mut Run) {
    let mut chat = agent(run, "You write SQL.", &["sql"], "How many parcels did we lose last winter?");
    begin_work(run, &mut chat, "sql");
    go_round(run, 30, |run, _| {
        let (column, value) =
            (run.rng.pick(&["state", "status", "phase", "flag"]), run.rng.pick(&["lost", "LOST", "missing", "gone"]));
        let query = format!(
            "select * from {} where {column} = '{value}' limit {}",
            run.rng.pick(&["parcels", "shipments"]),
            run.rng.range(1..=99)
        );
        run.act(&mut chat, "", Tool::new("sql", json!({ "query": query })), "(0 rows)");
    });
}

/// Whatever is asked for, the same page comes back.
fn same_page_other_query(run: &mut Run) {
    let mut chat = agent(run, "You browse.", &["web_fetch"], "What does the new tariff cost?");
    let page = format!("Welcome! Please accept our cookies to go on. {}", words::task(&mut run.rng));
    go_round(run, 30, |run, lap| {
        let url = format!("https://tariffs.example/{}?v={lap}", run.rng.pick(words::NOUNS));
        let say = spin(&mut run.rng, "[Perhaps here.|Another page of the site.|The price should be on this one.]");
        run.act(&mut chat, &say, Tool::new("web_fetch", json!({ "url": url })), &page);
    });
}

/// Other inputs every time, and always the same refusal.
fn same_error_other_inputs(run: &mut Run) {
    let mut chat = agent(run, "Vous réservez des salles.", &["reserver"], "Réserve une salle pour l'atelier.");
    go_round(run, 30, |run, _| {
        let input = json!({"salle": run.rng.pick(words::CITIES), "heure": format!("{}:30", run.rng.range(8..=18)), "personnes": run.rng.range(4..=30)});
        run.act_failing(
            &mut chat,
            "",
            Tool::new("reserver", input),
            "Erreur 403 : votre compte ne peut pas réserver de salle.",
        );
    });
}
