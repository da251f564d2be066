//! Logins at an identity provider with several servers on one database.

use super::identity_provider::{CLIENT, IdentityProvider, SECRET};
use super::{Browser, ROLES, refusal};
use crate::cluster::{Cluster, Engine};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn login_is_finished_by_one_of_the_servers_on_a_database() {
    let login = IdentityProvider::start().await;
    let settings = [
        "allow_private_targets=true".to_owned(),
        ROLES.to_owned(),
        format!("auth.oidc.issuer={}", login.url()),
        format!("auth.oidc.client_id={CLIENT}"),
        format!("auth.oidc.client_secret={SECRET}"),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let cluster = Cluster::start(Engine::Postgres, &settings).await;
    let [one, two, three] = &cluster.servers[..] else { panic!("three servers") };

    // Begun at one server, finished at another.
    let mut browser = Browser::new(one);
    let begun = browser.begin("/agents").await;
    let code = || {
        let token = login.sign(&login.claims("ann", &["ops"], &begun.nonce));
        login.issue_code(&begun.challenge, token)
    };
    let kept = browser.cookies.clone();
    browser.server = two;
    assert_eq!(browser.come_back(&begun.state, &code()).await.status, 303);
    for server in [one, two, three] {
        browser.server = server;
        assert_eq!(browser.get("/agents").await.status, 200);
    }

    // The answer was stolen with the cookie, and the provider issues a second code for the login.
    for server in [one, two, three] {
        let mut thief = Browser { server, cookies: kept.clone() };
        let answer = thief.come_back(&begun.state, &code()).await;
        assert_eq!((answer.status.as_u16(), thief.has_session()), (401, false), "{}", answer.text());
    }
    refusal(one, "replayed").await;
}
