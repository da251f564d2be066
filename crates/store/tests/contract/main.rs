//! What every database behind the store must do, tested through the public API only. Each
//! database is a `Backend` and one line at the end.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod access;
mod agents;
mod alerts;
mod backend;
mod events;
mod incidents;
mod old_database;
mod postgres_only;
mod postgres_server;
mod settings;
mod several_writers;
mod statistics;

use backend::{Postgres, Sqlite};

/// Runs every case of the contract against a backend.
macro_rules! suite {
    ($name:ident, $backend:expr, { $($module:ident: [$($case:ident),* $(,)?]),* $(,)? }) => {
        mod $name {
            use super::*;
            $($(
                #[tokio::test]
                async fn $case() {
                    super::$module::$case(&$backend).await;
                }
            )*)*
        }
    };
}

macro_rules! contract {
    ($name:ident, $backend:expr) => {
        suite!($name, $backend, {
            access: [
                agent_keys_survive_a_restart,
                groups_survive_a_restart,
                labels_survive_a_restart,
                users_and_tokens_survive_a_restart,
                audit_log_tells_who_changed_what_and_is_one_chain,
            ],
            agents: [
                agent_is_created_by_its_first_event,
                configured_agent_keeps_its_settings,
                deleted_agent_leaves_nothing_but_the_sums,
                activation_of_a_past_epoch_is_refused,
                restore_returns_the_window_of_the_current_epoch,
            ],
            alerts: [
                kill_queues_one_delivery_per_channel,
                attempt_that_is_given_up_can_be_retried,
                recovery_is_queued_with_the_activation,
            ],
            events: [
                pages_hold_every_event_once,
                filters_select_events,
                text_is_found_in_any_case,
                refusals_of_a_minute_share_a_row,
            ],
            incidents: [
                kill_is_on_disk_when_it_is_acknowledged,
                second_kill_of_an_epoch_writes_nothing,
                feedback_and_deletion,
            ],
            settings: [
                settings_survive_a_restart,
                provider_keys_are_encrypted_and_come_back,
                policies_survive_a_restart,
                exemptions_end,
            ],
            statistics: [
                empty_database_has_empty_figures,
                sums_equal_a_scan_of_the_events,
                two_writers_lose_no_counts_and_no_latencies,
                spending_counts_from_the_start_of_the_day,
            ],
        });
    };
}

contract!(sqlite, Sqlite);
contract!(postgres, Postgres);
