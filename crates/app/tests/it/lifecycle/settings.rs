//! Settings made while the server runs survive a restart and override flags.

use std::os::unix::fs::PermissionsExt;

use http::Method;
use serde_json::json;

use crate::support::{Http, ServerBuilder, provider};

#[tokio::test]
async fn settings_override_flags_and_survive_a_restart() {
    let provider = provider().await;
    let flags = ["--set", "kill_switch.threshold=7", "--set", "retention.events=3d"];
    let server = ServerBuilder::new(&provider.url()).arguments(&flags).start();
    server.agent("first").ask("Are you there?").await;
    let body = json!({"kill_switch": {"enabled": true}, "retention": {"event_days": 5}});
    server.api(Method::PUT, "/api/settings", Some(body)).await;

    let server = server.kill().start();
    server.agent("second").ask("Are you there?").await;
    let settings = server.get("/api/settings").await;
    assert_eq!(
        (&settings["retention"]["event_days"], &settings["configured"]["retention"]["event_days"]),
        (&json!(5), &json!(3))
    );
    for (agent, enabled) in [("first", false), ("second", true)] {
        let kill_switch = server.get(&format!("/api/agents/{agent}")).await["kill_switch"].clone();
        assert_eq!((&kill_switch["enabled"], &kill_switch["threshold"]), (&json!(enabled), &json!(7.0)), "{agent}");
    }
    let banner = server.banner().await;
    assert!(banner.contains("on for new agents"), "{banner}");
}

#[tokio::test]
async fn replaced_token_is_stored_and_the_old_one_refused() {
    let provider = provider().await;
    let server = ServerBuilder::new(&provider.url()).without_token().start();
    let new = server.api(Method::POST, "/api/token", None).await["token"].as_str().unwrap().to_owned();
    let file = server.data_dir().join("token");
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim(), new);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let status = async |token: &str| {
        let url = format!("{}/api/agents", server.dashboard);
        Http::new().json(Method::GET, &url, Some(token), None).await.unwrap().status
    };
    assert_eq!(
        (status(&server.token).await, status(&new).await),
        (http::StatusCode::UNAUTHORIZED, http::StatusCode::OK)
    );
    assert!(!server.log().contains(&new), "a token is never logged");

    let server = server.kill().start();
    assert_eq!(server.token, new, "a restart reads it from the file");
    server.get("/api/agents").await;
}
