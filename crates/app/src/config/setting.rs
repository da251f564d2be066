//! Every setting of the server: its key, its shape, and its parser.

use std::sync::Arc;

use model::{ANY, Action, AgentId, Counting, KillSwitchChange, PolicyChange, Provider, RateLimit, RequireKey};
use wire::{Prices, Unpriced};

use super::price_file;
use super::sections::access;
use super::sections::identity;
use super::sections::shared;
use super::value::{self, Read};
use super::{Config, LogFormat};
use crate::policy_text;

/// How many values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One; a later layer replaces it.
    One,
    /// A list; a later layer replaces the whole list.
    List,
    /// One at a time; a later layer adds to the earlier ones.
    Repeated,
}

/// One setting.
pub(super) struct Setting {
    /// Its key in the file; with `_` for `.` and in capitals, its environment variable.
    pub(super) key: &'static str,
    /// How many values it takes.
    pub(super) shape: Shape,
    /// Parses the values and stores them.
    pub(super) apply: fn(&mut Config, &[String], &[Provider]) -> Read<()>,
}

macro_rules! settings {
    ($($key:literal => |$config:ident, $text:ident| $apply:expr;)+) => {
        [$(Setting {
            key: $key,
            shape: Shape::One,
            apply: |$config, values, _| {
                let [$text] = values else { return Err("must be one value".to_owned()) };
                $apply;
                Ok(())
            },
        }),+]
    };
}

const SINGLE: [Setting; 84] = settings! {
    "bind" => |config, text| config.bind = value::address(text)?;
    "port" => |config, text| config.port = value::port(text)?;
    "proxy_port" => |config, text| config.proxy_port = value::port(text)?;
    "data_dir" => |config, text| config.data_dir = value::path(text)?;
    "database" => |config, text| config.database.url = value::database_url(text)?;
    "database_password_file" => |config, text| config.database.password_file = Some(value::path(text)?);
    "shared.engine" => |config, text| config.shared.engine = shared::engine(text)?;
    "shared.url" => |config, text| config.shared.url = Some(shared::url(text)?);
    "shared.password_file" => |config, text| config.shared.password_file = Some(value::path(text)?);
    "shared.ca" => |config, text| config.shared.ca = Some(value::path(text)?);
    "shared.on_failure" => |config, text| config.shared.on_failure = shared::on_failure(text)?;
    "key_file" => |config, text| config.key_file = Some(value::path(text)?);
    "ready_file" => |config, text| config.ready_file = Some(value::path(text)?);
    "token" => |config, text| config.token = Some(value::token(text)?);
    "tls.certificate" => |config, text| config.tls.certificate = Some(value::path(text)?);
    "tls.key" => |config, text| config.tls.key = Some(value::path(text)?);
    "tls.client_ca" => |config, text| config.tls.client_ca = Some(value::path(text)?);
    "auth.forward.user_header" => |config, text|
        access::forward(&mut config.access).user_header = access::header(text)?;
    "auth.forward.groups_header" => |config, text|
        access::forward(&mut config.access).groups_header = Some(access::header(text)?);
    "auth.forward.default_role" => |config, text|
        access::forward(&mut config.access).roles.otherwise = access::default_role(text)?;
    "auth.oidc.issuer" => |config, text| config.oidc.issuer = Some(identity::issuer(text)?);
    "auth.oidc.client_id" => |config, text| config.oidc.client_id = Some(identity::word(text)?);
    "auth.oidc.client_secret" => |config, text| config.oidc.client_secret = Some(identity::word(text)?.into());
    "auth.oidc.client_secret_file" => |config, text| config.oidc.client_secret_file = Some(value::path(text)?);
    "auth.oidc.groups_claim" => |config, text| config.oidc.groups_claim = Some(identity::word(text)?);
    "auth.oidc.name_claim" => |config, text| config.oidc.name_claim = Some(identity::word(text)?);
    "auth.oidc.default_role" => |config, text| config.oidc.roles.otherwise = access::default_role(text)?;
    "auth.jwt.issuer" => |config, text| config.jwt.issuer = Some(identity::word(text)?);
    "auth.jwt.audience" => |config, text| config.jwt.audience = Some(identity::word(text)?);
    "auth.jwt.jwks_url" => |config, text| config.jwt.jwks_url = Some(identity::jwks_url(text)?);
    "auth.jwt.agent_claim" => |config, text| config.jwt.agent_claim = Some(identity::word(text)?);
    "refusal_status" => |config, text| config.refusal_status.all = Some(value::refusal_status(text)?);
    "proxy.refusal_status.openai" => |config, text| config.refusal_status.openai = Some(value::refusal_status(text)?);
    "proxy.refusal_status.anthropic" => |config, text| config.refusal_status.anthropic = Some(value::refusal_status(text)?);
    "proxy.refusal_status.gemini" => |config, text| config.refusal_status.gemini = Some(value::refusal_status(text)?);
    "proxy.refusal_status.ollama" => |config, text| config.refusal_status.ollama = Some(value::refusal_status(text)?);
    "proxy.require_key" => |config, text|
        config.require_key = value::word(text, RequireKey::parse, "auto, always, never")?;
    "proxy.allow_open_relay" => |config, text| config.allow_open_relay = value::switch(text)?;
    "drain" => |config, text| config.drain = value::duration_or_zero(text)?;
    "evidence_budget" => |config, text| config.evidence_budget = value::size(text)?;
    "evidence.keep_on_disk" => |config, text| config.keep_evidence_on_disk = value::switch(text)?;
    "recording.keep" => |config, text| config.recording.keep = value::duration(text)?;
    "recording.max_size" => |config, text| config.recording.max_size = value::size(text)? as u64;
    "kill_switch.enabled" => |config, text| config.kill_switch.enabled = value::switch(text)?;
    "kill_switch.window_size" => |config, text| change(config, KillSwitchChange {
        window_size: Some(value::parsed(text, "a whole number from 2 to 500")?), ..Default::default()
    })?;
    "kill_switch.threshold" => |config, text| change(config, KillSwitchChange {
        threshold: Some(value::parsed(text, "a number above 0, at most 10000")?), ..Default::default()
    })?;
    "kill_switch.action" => |config, text|
        config.kill_switch.action = value::word(text, Action::parse, "deactivate, block, observe")?;
    "kill_switch.counting" => |config, text|
        config.kill_switch.counting = value::word(text, Counting::parse, "adaptive, literal")?;
    "policy.budget_daily_usd" => |config, text| policy(config, PolicyChange {
        budget_daily_usd: Some(Some(value::dollars(text)?)), ..Default::default()
    })?;
    "policy.budget_weekly_usd" => |config, text| policy(config, PolicyChange {
        budget_weekly_usd: Some(Some(value::dollars(text)?)), ..Default::default()
    })?;
    "policy.budget_monthly_usd" => |config, text| policy(config, PolicyChange {
        budget_monthly_usd: Some(Some(value::dollars(text)?)), ..Default::default()
    })?;
    "policy.budget_conversation_usd" => |config, text| policy(config, PolicyChange {
        budget_conversation_usd: Some(Some(value::dollars(text)?)), ..Default::default()
    })?;
    "policy.time_zone" => |config, text| policy(config, PolicyChange {
        time_zone: Some(text.clone()), ..Default::default()
    })?;
    "policy.requests_per_minute" => |config, text| {
        let rate = value::parsed(text, "a whole number above 0")?;
        overall_rate(config, |limit| limit.requests_per_minute = Some(rate))?;
    };
    "policy.tokens_per_minute" => |config, text| {
        let rate = value::parsed(text, "a whole number above 0")?;
        overall_rate(config, |limit| limit.tokens_per_minute = Some(rate))?;
    };
    "retention.events" => |config, text| config.retention.event_days = value::days(text)?;
    "retention.incidents" => |config, text| config.retention.incident_days = value::days(text)?;
    "retention.statistics" => |config, text| config.retention.statistics_days = value::days(text)?;
    "retention.max_size" => |config, text| config.max_size = value::max_size(text)?;
    "prices.file" => |config, text| {
        let own = price_file::read(text)?;
        let prices = prices(config)?;
        own.iter().for_each(|(provider, model, price)| prices.put(provider, model, *price));
    };
    "prices.unpriced" => |config, text| {
        let unpriced = value::word(text, Unpriced::parse, "most_expensive, free")?;
        prices(config)?.count_unpriced_as(unpriced);
    };
    "limits.max_request_body" => |config, text| config.limits.max_request_body = value::size(text)?;
    "limits.bodies_in_flight" => |config, text| config.limits.bodies_in_flight = value::size(text)?;
    "limits.max_header_size" => |config, text| config.limits.max_header_size = value::header_size(text)?;
    "limits.max_connections" => |config, text| config.limits.max_connections = value::at_least_one(text)?;
    "limits.header_timeout" => |config, text| config.limits.header_timeout = value::duration(text)?;
    "limits.connect_timeout" => |config, text| config.limits.connect_timeout = value::duration(text)?;
    "limits.first_byte_timeout" => |config, text| config.limits.first_byte_timeout = value::duration(text)?;
    "limits.idle_timeout" => |config, text| config.limits.idle_timeout = value::duration(text)?;
    "limits.kill_commit_timeout" => |config, text| config.limits.kill_commit_timeout = value::duration(text)?;
    "limits.max_agents" => |config, text| config.limits.max_agents = value::at_least_one(text)?;
    "limits.max_conversations" => |config, text| config.limits.max_conversations = value::at_least_one(text)?;
    "allow_private_targets" => |config, text| config.alerts.allow_private_targets = value::switch(text)?;
    "public_url" => |config, text| config.alerts.public_url = Some(value::web_address(text)?);
    "alerts.digest_window" => |config, text| config.alerts.digest_window = value::duration_or_zero(text)?;
    "smtp.host" => |config, text| config.alerts.smtp.host = Some(value::host_name(text)?);
    "smtp.port" => |config, text| config.alerts.smtp.port = Some(value::parsed::<std::num::NonZeroU16>(text, "a port from 1 to 65535")?.get());
    "smtp.security" => |config, text|
        config.alerts.smtp.security = value::word(text, model::SmtpSecurity::parse, "none, starttls, tls")?;
    "smtp.username" => |config, text| config.alerts.smtp.username = Some(text.clone());
    "smtp.password" => |config, text| config.alerts.smtp.password = Some(text.as_str().into());
    "smtp.from" => |config, text|
        config.alerts.smtp.from = Some(value::parsed(text, "an address like gazer@example.com or AgentGazer <gazer@example.com>")?);
    "smtp.certificate" => |config, text| config.alerts.smtp.certificate = Some(value::path(text)?);
    "log.format" => |config, text| config.log.format = value::word(text, LogFormat::parse, "text, json")?;
    "log.level" => |config, text| config.log.level = value::log_level(text)?;
};

const LISTS: [Setting; 10] = [
    Setting {
        key: "allow_hosts",
        shape: Shape::List,
        apply: |config, values, _| {
            config.allow_hosts = values.iter().map(|name| value::host_name(name)).collect::<Read<_>>()?;
            Ok(())
        },
    },
    Setting {
        key: "auth.trusted_proxies",
        shape: Shape::List,
        apply: |config, values, _| {
            config.access.proxies = access::trusted_proxies(values)?;
            Ok(())
        },
    },
    Setting {
        key: "auth.forward.roles",
        shape: Shape::List,
        apply: |config, values, _| {
            let roles = values.iter().map(|text| access::group_role(text)).collect::<Read<_>>()?;
            access::forward(&mut config.access).roles.groups = roles;
            Ok(())
        },
    },
    Setting {
        key: "auth.oidc.roles",
        shape: Shape::List,
        apply: |config, values, _| {
            config.oidc.roles.groups = values.iter().map(|text| access::group_role(text)).collect::<Read<_>>()?;
            Ok(())
        },
    },
    Setting {
        key: "auth.oidc.scopes",
        shape: Shape::List,
        apply: |config, values, _| {
            config.oidc.scopes = Some(values.iter().map(|text| identity::scope(text)).collect::<Read<_>>()?);
            Ok(())
        },
    },
    Setting {
        key: "proxy.allow_origins",
        shape: Shape::List,
        apply: |config, values, _| {
            config.allow_origins = values.iter().map(|origin| proxy::Origin::parse(origin)).collect::<Read<_>>()?;
            Ok(())
        },
    },
    Setting {
        key: "recording.agents",
        shape: Shape::List,
        apply: |config, values, _| {
            config.recording.all = values.iter().any(|name| name == ANY);
            let agents = values.iter().filter(|name| *name != ANY).map(|name| AgentId::parse(name));
            config.recording.agents = agents.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
            Ok(())
        },
    },
    Setting {
        key: "include_usage",
        shape: Shape::List,
        apply: |config, values, _| {
            config.include_usage = values.iter().map(|text| value::named_switch(text)).collect::<Read<_>>()?;
            Ok(())
        },
    },
    Setting {
        key: "policy.allowed_hours",
        shape: Shape::List,
        apply: |config, values, _| {
            let hours = values.iter().map(|text| policy_text::hours(text)).collect::<Read<_>>()?;
            policy(config, PolicyChange { allowed_hours: Some(Some(hours)), ..Default::default() })
        },
    },
    Setting {
        key: "providers",
        shape: Shape::Repeated,
        apply: |config, values, known| {
            for text in values {
                let provider = value::provider(text, known)?;
                config.providers.retain(|earlier| earlier.name != provider.name);
                config.providers.push(provider);
            }
            Ok(())
        },
    },
];

/// Every setting.
pub(super) static SETTINGS: std::sync::LazyLock<Vec<Setting>> =
    std::sync::LazyLock::new(|| SINGLE.into_iter().chain(LISTS).collect());

/// The prices, which no one shares yet.
fn prices(config: &mut Config) -> Read<&mut Prices> {
    Arc::get_mut(&mut config.prices).ok_or_else(|| "can only be set at start".to_owned())
}

fn policy(config: &mut Config, change: PolicyChange) -> Read<()> {
    config.policy = change.apply(&config.policy).map_err(|error| error.message)?;
    Ok(())
}

/// Changes the rate over all providers together.
fn overall_rate(config: &mut Config, set: impl FnOnce(&mut RateLimit)) -> Read<()> {
    let none = RateLimit { provider: ANY.to_owned(), requests_per_minute: None, tokens_per_minute: None };
    // The configuration has no other rates.
    let mut limit = config.policy.rate_limits.first().cloned().unwrap_or(none);
    set(&mut limit);
    policy(config, PolicyChange { rate_limits: Some(vec![limit]), ..Default::default() })
}

fn change(config: &mut Config, change: KillSwitchChange) -> Read<()> {
    config.kill_switch = change.apply(config.kill_switch).map_err(|error| error.message)?;
    Ok(())
}
