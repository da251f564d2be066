//! What every engine must do, tested through the public API only, on real servers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod agents;
mod budgets;
mod engine;
mod log;
mod model_check;
#[allow(dead_code, reason = "the store's tests use the rest")]
#[path = "../../../store/tests/contract/postgres_server.rs"]
mod postgres_server;
mod postgres_upgrade;
mod redis_server;
mod valkey_server;
mod without_log;

use engine::Engine;

macro_rules! suite {
    ($name:ident, $engine:expr, { $($module:ident: [$($case:ident),* $(,)?]),* $(,)? }) => {
        mod $name {
            use super::*;
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    super::$module::$case($engine.open(stringify!($case)).await).await;
                }
            )*)*
        }
    };
}

macro_rules! contract {
    ($name:ident, $engine:expr) => {
        suite!($name, $engine, {
            agents: [
                unknown_agent_is_opened_once,
                kill_has_one_winner,
                killed_agent_is_refused_until_a_newer_epoch,
                older_epoch_changes_nothing,
                changes_are_listed_and_pushed,
                changes_of_who_may_call_are_in_the_answer,
                replicas_that_beat_are_alive,
            ],
            budgets: [
                concurrent_calls_do_not_overspend,
                refusal_reserves_nothing,
                settlement_counts_once,
                call_without_ticket_counts_once,
                call_decided_alone_releases_its_ticket,
                lost_sums_are_taken_over,
                rate_tells_the_wait,
                tokens_are_corrected,
                tickets_of_a_dead_replica_expire,
            ],
            log: [
                replicas_see_one_order,
                repeated_admission_adds_nothing,
                log_begins_with_the_calls_of_its_opener,
                appended_calls_get_the_next_numbers,
                long_log_says_that_it_was_trimmed,
                log_is_read_after_a_kill,
                record_of_a_newer_version_is_skipped,
            ],
            model_check: [replicas_decide_as_one_guard],
            without_log: [replicas_agree_again_after_deciding_alone],
        });
    };
}

contract!(local, Engine::Local);
contract!(postgres, Engine::Postgres);
contract!(valkey, Engine::Valkey);
