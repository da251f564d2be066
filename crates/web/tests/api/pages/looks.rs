//! The content of pages, as snapshots.

use super::Browser;
use super::safety::with_a_kill;
use crate::server::Server;

/// Masks the parts that differ from run to run: ids, the time between two calls, and the version of
/// the files.
fn masked(html: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in html.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        let released = concat!("<dd>", env!("CARGO_PKG_VERSION"), "</dd>");
        let line = mask_gap(&line.replace(released, "<dd><RELEASE></dd>"));
        lines.push(mask_version(&mask_ids(&line)));
    }
    lines.join("\n")
}

fn mask_ids(line: &str) -> String {
    let is_id = |text: &str| text.len() == 36 && uuid_like(text);
    let mut masked = String::new();
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        match rest.get(..36).filter(|text| is_id(text)) {
            Some(_) => {
                masked.push_str("<ID>");
                rest = &rest[36..];
            }
            None => {
                masked.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    masked
}

fn uuid_like(text: &str) -> bool {
    text.bytes().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

fn mask_gap(line: &str) -> String {
    match line.split_once("</time>, ").and_then(|(before, rest)| Some((before, rest.split_once(" after call ")?.1))) {
        Some((before, after)) => format!("{before}</time>, <GAP> after call {after}"),
        None => line.to_owned(),
    }
}

fn mask_version(line: &str) -> String {
    match line.split_once("/static/") {
        Some((before, after)) => format!("{before}/static/<VERSION>{}", after.get(16..).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[tokio::test]
async fn every_page() {
    let (server, paths) = with_a_kill().await;
    let browser = Browser::new(&server).await;
    for (path, name) in paths.iter().zip(super::safety::PAGES) {
        let name = name.trim_matches('/').replace('/', "_").replace(['{', '}'], "");
        let name = if name.is_empty() { "overview".to_owned() } else { name };
        insta::assert_snapshot!(name, masked(&browser.get(path).await.text));
    }
}

#[tokio::test]
async fn an_empty_system_says_what_to_do_first() {
    let server = Server::start().await;
    let browser = Browser::new(&server).await;
    for path in ["/", "/agents"] {
        let text = browser.page(path).await;
        assert!(
            text.contains("No agents yet") && text.contains("http://127.0.0.1:18900/agents/my-agent/openai/v1"),
            "{path}"
        );
    }
    assert!(browser.page("/incidents").await.contains("Nothing has been stopped yet"));
    assert!(browser.page("/requests").await.contains("Every call that agents make appears here at once"));
    assert!(browser.page("/requests?agent=nobody").await.contains("No request matches."));
}

/// Seeds: “Display deactivation reason in dashboard”, “Display manual deactivation in dashboard”.
#[tokio::test]
async fn display_deactivation_reason_in_dashboard() {
    let server = Server::start().await;
    server.kill("import-fixer").await;
    for name in ["healthy", "resting"] {
        server.put(&format!("/api/agents/{name}/kill-switch"), serde_json::json!({})).await;
    }
    server.patch("/api/agents/resting", serde_json::json!({"active": false})).await;

    let browser = Browser::new(&server).await;
    let text = browser.page("/agents").await;
    assert!(text.contains("1 of 3 agents is stopped."), "{text}");
    for badge in ["killed\">Deactivated by Kill Switch<", "inactive\">Inactive<", "active\">Active<"] {
        assert!(text.contains(badge), "{badge}: {text}");
    }
    for (agent, badge) in [("import-fixer", "Deactivated by Kill Switch"), ("resting", ">Inactive<")] {
        assert!(browser.page(&format!("/agents/{agent}")).await.contains(badge), "{agent}");
    }
}

/// Seeds: the incidents list and the scoring breakdown.
#[tokio::test]
async fn an_incident_shows_its_score_and_its_evidence_as_text() {
    let server = Server::start().await;
    let incident = server.kill("import-fixer").await;
    let browser = Browser::new(&server).await;
    let list = browser.page("/incidents").await;
    for said in ["import-fixer", "openai", "7.0 / 5", "P=3", "R=2", "T=0", "View details"] {
        assert!(list.contains(said), "{said}: {list}");
    }
    let text = browser.page(&format!("/incidents/{incident}")).await;
    for said in ["Loop score 7.0 / 5 (140 %)", "×1.0", "×2.0", "×1.5", "Total", "Threshold", "characters"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(!text.contains("<script>alert") && text.contains("&#60;script&#62;alert"), "{text}");
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let server = Server::start().await;
    for number in 0..101 {
        server.put(&format!("/api/agents/agent-{number:03}/kill-switch"), serde_json::json!({})).await;
    }
    let browser = Browser::new(&server).await;
    let first = browser.page("/agents?search=&state=active").await;
    assert!(first.contains("agent-099") && !first.contains("agent-100"));
    let next = first.split("href=\"/agents?state=active&#38;cursor=").nth(1).unwrap().split('"').next().unwrap();
    let second = browser.page(&format!("/agents?state=active&cursor={next}")).await;
    assert!(second.contains("agent-100") && !second.contains("agent-099") && second.contains("Newest"));

    let found = browser.page("/agents?search=AGENT-07").await;
    assert!(found.contains("agent-077") && !found.contains("agent-080"));
    assert!(browser.page("/agents?search=nobody").await.contains("No agent matches."));
    let wrong = browser.get("/agents?state=odd").await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.text.contains("state must be one of"), "{}", wrong.text);
}
