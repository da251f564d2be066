//! The replay check: the replicas together decided what one process decides that gets the same
//! calls in the same order.

use std::collections::BTreeMap;

use guard::{Decision, Followed, Guard, GuardConfig, Replay};
use model::shared_log::{LogEntry, LogPart, LogRecord};
use model::{AgentId, Epoch, Fingerprint, KillSwitch, Timestamp, fingerprint_bytes};
use serde_json::{Value, json};

use super::history::HistoryEvent;
use super::site::{LOOPERS, Site, WALKER};
use crate::support::run;

/// Compares all calls that can be compared, and returns their number.
pub(crate) fn check_replay(site: &Site) -> usize {
    let from_log = replay_log(site);
    let (agent, _) = LOOPERS[0];
    let from_events = replay_events(site, agent);
    let by_command = replay_by_command(site, agent);
    println!("replayed: {from_log} calls of the log, {from_events} events, {by_command} epochs by the command");
    from_log + from_events
}

/// A stored call.
struct Stored {
    id: String,
    epoch: i64,
    number: u64,
    score: f64,
    is_kill: bool,
    print: Fingerprint,
}

fn stored(site: &Site, agent: &str) -> Vec<Stored> {
    let sql = format!(
        "select id, epoch, number, score, event_type, encode(fingerprint, 'hex') as print from events
        where agent_id = '{agent}' and fingerprint is not null and score is not null order by epoch, number"
    );
    let stored = |row: Value| Stored {
        id: row["id"].as_str().unwrap().to_owned(),
        epoch: row["epoch"].as_i64().unwrap(),
        number: row["number"].as_u64().unwrap(),
        score: row["score"].as_f64().unwrap(),
        is_kill: row["event_type"] == "kill_switch",
        print: fingerprint_bytes::decode(&from_hex(row["print"].as_str().unwrap())).unwrap(),
    };
    site.query(&sql).into_iter().map(stored).collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Judges the log of the steady client, whose calls overlap, with a new guard.
fn replay_log(site: &Site) -> usize {
    let agent = AgentId::parse(WALKER).unwrap();
    let log = read_log(site, &agent);
    let kill_switch = KillSwitch { enabled: true, threshold: 10_000.0, ..KillSwitch::default() };
    let guard = Guard::new(GuardConfig { defaults: kill_switch, ..GuardConfig::default() });
    guard.activate(&agent, log.epoch);
    let stored = stored(site, WALKER);
    let scores: BTreeMap<&str, f64> = stored.iter().map(|it| (it.id.as_str(), it.score)).collect();
    let saved: Vec<Fingerprint> = stored.iter().map(|it| it.print).collect();
    let exact = site.load.history.exact_calls();
    let mut compared = 0;
    for (place, entry) in log.entries.iter().enumerate() {
        let LogRecord::Arrived(replica, print) = entry.record else { continue };
        let part = LogPart { entries: log.entries[..=place].to_vec(), ..log.clone() };
        let followed = guard.follow(&agent, &part, (replica, print.call), Some(&saved));
        let Followed::Decided(Decision::Scored(scored)) = followed else { panic!("{followed:?}") };
        let id = print.call.to_string();
        if let Some(score) = scores.get(id.as_str()).filter(|_| exact.contains(&id)) {
            assert_eq!(scored.score.value, *score, "call {id}, record {place} of the log");
            compared += 1;
        }
    }
    compared
}

/// Reads a log from the engine.
fn read_log(site: &Site, agent: &AgentId) -> LogPart {
    let text = match &site.redis {
        Some(redis) => redis.execute(&format!("EVAL \"{READ_STREAM}\" 0 {agent}")),
        None => site.postgres.execute(&site.database, &READ_TABLES.replace("AGENT", agent.as_str())),
    };
    let mut words = text.trim_start_matches('+').split_whitespace();
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
    let (epoch, floor, trimmed) = (number().unwrap(), number().unwrap(), number().unwrap());
    let words: Vec<&str> = words.collect();
    let entry = |words: &[&str]| LogEntry {
        position: words[0].parse().unwrap(),
        number: words[1].parse().unwrap(),
        at: Timestamp::from_millis(words[2].parse().unwrap()),
        record: LogRecord::decode(&from_hex(words[3])),
    };
    let entries = words.chunks_exact(4).map(entry).collect();
    LogPart { epoch: Epoch(epoch), floor, is_trimmed: trimmed == 1, entries }
}

/// Epoch, floor and whether it was trimmed; then position, number, time and bytes of each record.
const READ_TABLES: &str = "select concat_ws(' ', epoch, floor, trimmed::int, (select string_agg(
        concat_ws(' ', seq, number, at, encode(record, 'hex')), ' ' order by seq)
    from share_log where agent = 'AGENT')) from share_agents where agent = 'AGENT'";
const READ_STREAM: &str = "local at = 'ag:{share}:s:' .. ARGV[1]; \
    local out = {redis.call('HGET', at, 'epoch'), redis.call('HGET', at, 'floor'), redis.call('HGET', at, 'trimmed') or '0'}; \
    for _, e in ipairs(redis.call('XRANGE', 'ag:{share}:w:' .. ARGV[1], '-', '+')) do \
    local f = e[2]; out[#out + 1] = string.match(e[1], '%d+'); out[#out + 1] = f[2]; out[#out + 1] = f[4]; \
    out[#out + 1] = string.gsub(f[6], '.', function(c) return string.format('%02x', string.byte(c)) end) end; \
    return {ok = table.concat(out, ' ')}";

/// Judges the stored calls of an agent that makes one call at a time. The check of an epoch ends at
/// the first call that is missing (its replica died) or that a replica decided alone.
fn replay_events(site: &Site, agent: &str) -> usize {
    let exact = site.load.history.exact_calls();
    let mut compared = 0;
    for epoch in epochs(stored(site, agent)) {
        let mut replay = Replay::new(KillSwitch { enabled: true, threshold: 5.0, ..KillSwitch::default() });
        for (place, call) in epoch.iter().enumerate() {
            // The first call of a window has a score of zero; otherwise the first calls are
            // missing.
            let follows = if place == 0 { call.score == 0.0 } else { call.number == epoch[place - 1].number + 1 };
            if !follows || !exact.contains(&call.id) {
                break;
            }
            let judged = replay.take(&call.print);
            assert_eq!(judged.score.value, call.score, "{agent}, epoch {}, call {place}", call.epoch);
            compared += 1;
        }
    }
    compared
}

fn epochs(stored: Vec<Stored>) -> Vec<Vec<Stored>> {
    let mut epochs: BTreeMap<i64, Vec<Stored>> = BTreeMap::new();
    for call in stored {
        epochs.entry(call.epoch).or_default().push(call);
    }
    epochs.into_values().collect()
}

/// Replays requests and answers in the order of the log with `agentgazer replay`: it stops a run at
/// the same call as the replicas did, with the same score.
fn replay_by_command(site: &Site, agent: &str) -> usize {
    let (bodies, exact) = (bodies(site), site.load.history.exact_calls());
    let is_whole = |epoch: &Vec<Stored>| {
        let has_gap = epoch[0].score > 0.0 || epoch.windows(2).any(|pair| pair[0].number + 1 != pair[1].number);
        !has_gap && epoch.last().is_some_and(|it| it.is_kill) && epoch.iter().all(|it| exact.contains(&it.id))
    };
    let mut by_threshold: BTreeMap<String, Vec<Vec<Stored>>> = BTreeMap::new();
    for epoch in epochs(stored(site, agent)).into_iter().filter(is_whole) {
        let sql = format!("select threshold from incidents where agent_id = '{agent}' and epoch = {}", epoch[0].epoch);
        let threshold = site.query(&sql)[0]["threshold"].to_string();
        by_threshold.entry(threshold).or_default().push(epoch);
    }
    for (threshold, epochs) in &by_threshold {
        let runs = epochs.iter().map(|epoch| {
            let calls: Vec<Value> = epoch.iter().map(|call| recorded(call, &bodies)).collect();
            json!({"id": epoch[0].epoch.to_string(), "calls": calls})
        });
        for (epoch, judged) in epochs.iter().zip(replay(threshold, runs.collect())) {
            assert_eq!(judged["killed_at"], epoch.len() - 1, "epoch {}: {judged}", epoch[0].epoch);
            assert_eq!(judged["score"].as_f64(), epoch.last().map(|it| it.score), "{judged}");
        }
    }
    by_threshold.values().map(Vec::len).sum()
}

/// Runs the command, and returns an object for each run.
fn replay(threshold: &str, runs: Vec<Value>) -> Vec<Value> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), runs.iter().map(|run| format!("{run}\n")).collect::<String>()).unwrap();
    let said = run(&["replay", "--json", "--threshold", threshold, file.path().to_str().unwrap()]);
    said.said().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The bodies of all calls that were answered or refused, by id.
fn bodies(site: &Site) -> BTreeMap<String, (Value, Value)> {
    let (mut requests, mut bodies) = (BTreeMap::new(), BTreeMap::new());
    for event in site.load.history.all() {
        match event {
            HistoryEvent::CallSent { call, request, .. } => drop(requests.insert(call, request)),
            HistoryEvent::CallAnswered { call, id, response, .. } => {
                bodies.insert(id, (requests[&call].clone(), response));
            }
            HistoryEvent::CallRefused { call, id, .. } => {
                drop(bodies.insert(id, (requests[&call].clone(), Value::Null)))
            }
            _ => {}
        }
    }
    bodies
}

/// A call in the form that `replay` reads.
fn recorded(call: &Stored, bodies: &BTreeMap<String, (Value, Value)>) -> Value {
    let (request, response) = &bodies[&call.id];
    let timestamp = call.print.time.to_string();
    json!({"request": request, "response": response, "timestamp": timestamp, "sample": call.print.is_sample})
}
