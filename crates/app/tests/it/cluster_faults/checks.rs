//! Checks a finished run: its history, the database and the webhooks.

use std::collections::{BTreeMap, BTreeSet};

use super::site::{BUDGET_USD, LOOPERS, REPLICAS, SPENDER, Site};
use crate::support::{Received, eventually};

/// Checks everything once the load has ended and all replicas are healthy. The engine was
/// unreachable or emptied `outages` times.
pub(crate) async fn check_history(site: &Site, outages: usize) {
    site.load.history.check_kills();
    check_incidents(site).await;
    check_alerts(site).await;
    check_changes(site).await;
    check_sums(site);
    check_budget(site, outages);
}

/// Every kill that a response named is stored, once per epoch.
async fn check_incidents(site: &Site) {
    let told = site.load.history.named_incidents();
    let stored = || -> BTreeSet<String> {
        let rows = site.query("select id from incidents");
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    eventually(&format!("of {told:?} all are stored"), async || told.is_subset(&stored()).then_some(())).await;
    let twice = site.query("select agent_id, epoch from incidents group by 1, 2 having count(*) > 1");
    assert!(twice.is_empty(), "several incidents in one epoch: {twice:?}");
    for (agent, _) in LOOPERS {
        let incidents = site.query(&format!("select id from incidents where agent_id = '{agent}'")).len();
        let epochs = site.load.history.activations(agent) + 1;
        assert!(incidents <= epochs, "{incidents} incidents of {agent} in {epochs} epochs");
    }
}

/// Every incident is sent at least once, under one id.
async fn check_alerts(site: &Site) {
    let stored: BTreeSet<String> =
        site.query("select id from incidents").iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    let told = site.receiver.until(|all| stored.iter().all(|incident| ids_of(all).contains_key(incident))).await;
    for (incident, ids) in ids_of(&told) {
        assert_eq!(ids.len(), 1, "incident {incident} was told as {ids:?}");
    }
}

fn ids_of(received: &[Received]) -> BTreeMap<String, BTreeSet<String>> {
    let mut ids: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Received { id, body } in received {
        if let Some(incident) = body["data"]["incident_id"].as_str() {
            ids.entry(incident.to_owned()).or_default().insert(id.clone());
        }
    }
    ids
}

/// An acknowledged change is in force on every replica, unless a later one was requested.
async fn check_changes(site: &Site) {
    for (agent, possible) in site.load.history.thresholds() {
        for server in site.replicas.iter().flatten() {
            eventually(&format!("the threshold of {agent} is one of {possible:?}"), async || {
                let settings = server.get(&format!("/api/agents/{agent}/kill-switch")).await;
                possible.contains(&settings["threshold"].as_f64().unwrap()).then_some(())
            })
            .await;
        }
    }
}

/// The calls, refusals and costs of each agent and of all together: by events, and by sums.
const EVENTS: &str = "select coalesce(agent_id, '') as agent,
        coalesce(sum(count) filter (where event_type = 'llm_call'), 0) as requests,
        coalesce(sum(count) filter (where event_type in ('blocked', 'kill_switch')), 0) as blocked,
        coalesce(sum(cost_nano_usd), 0) as cost
    from events where event_type in ('llm_call', 'blocked', 'kill_switch') group by grouping sets ((agent_id), ())";
const SUMS: &str = "select agent_id as agent, sum(requests) as requests, sum(blocked) as blocked,
        sum(cost_nano_usd) as cost from rollups where span = 0 group by 1";

/// The sums equal those of the events. Some events may not be written yet; each is written with its
/// sums, so both are read in one snapshot.
pub(super) fn check_sums(site: &Site) {
    let sql = format!(
        "select coalesce(e.agent, s.agent) as agent, row_to_json(e) as events, row_to_json(s) as sums
        from ({EVENTS}) e full join ({SUMS}) s on e.agent = s.agent order by 1"
    );
    let rows = site.query(&sql);
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!(row["events"], row["sums"], "{row}");
    }
}

/// The recorded cost exceeds the budget by at most one call. Each outage of the engine allows one
/// more call of every replica, or the calls that replicas decided alone.
fn check_budget(site: &Site, outages: usize) {
    let rows = site.query(&format!(
        "select coalesce(sum(cost_nano_usd), 0)::bigint as spent, coalesce(max(cost_nano_usd), 0)::bigint as call
        from events where agent_id = '{SPENDER}'"
    ));
    let usd = |name: &str| rows[0][name].as_i64().unwrap() as f64 / 1e9;
    let (spent, call, degraded) = (usd("spent"), usd("call"), site.load.history.degraded(SPENDER));
    println!("spent {spent:.6} of {BUDGET_USD} USD, a call costs {call:.6}, {degraded} degraded calls");
    // On a slow machine the engine sometimes answers too late. Then the other replicas do not know
    // what a degraded one spends.
    let calls = (outages * REPLICAS).max(1 + degraded);
    assert!(spent <= BUDGET_USD + calls as f64 * call, "spent {spent} of {BUDGET_USD}, a call costs {call}");
}
