#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use model::{Action, Format};
use secrecy::ExposeSecret;

use super::*;

/// The configuration of these layers; the file is in the data directory.
fn resolved(file: &str, environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Config, Vec<String>> {
    let directory = tempfile::tempdir().unwrap();
    if !file.is_empty() {
        std::fs::write(directory.path().join("agentgazer.toml"), file).unwrap();
    }
    let known = [Provider::new("openai", "https://api.openai.com", Format::Openai).unwrap()];
    let result = resolve(Sources {
        file: None,
        environment: environment.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        flags: flags.iter().map(|(key, value)| Entry::flag(&format!("--{key}"), key, value)).collect(),
        known: &known,
        default_data_dir: directory.path().to_owned(),
        for_server: true,
    });
    let place = format!("{}/", directory.path().display());
    let line =
        |mistake: Mistake| Mistakes(vec![mistake]).to_string().replace(&place, "").lines().skip(1).collect::<String>();
    result.map_err(|Mistakes(mistakes)| mistakes.into_iter().map(line).collect())
}

#[test]
fn anthropic_has_another_refusal_status_than_the_others() {
    let statuses = resolved("", &[], &[]).unwrap().refusal_status.by_format();
    let read = [statuses.openai, statuses.anthropic, statuses.gemini, statuses.ollama].map(|status| status.as_u16());
    assert_eq!(read, [400, 403, 400, 400]);
}

#[test]
fn defaults_are_those_of_the_contract() {
    let config = resolved("", &[], &[]).unwrap();
    assert_eq!((config.bind.to_string().as_str(), config.port, config.proxy_port), ("127.0.0.1", 18_880, 18_900));
    assert_eq!(config.kill_switch, KillSwitch::default());
    assert_eq!(config.limits.max_request_body, 32 * 1024 * 1024);
    assert_eq!(config.drain, Duration::from_secs(30));
}

#[test]
fn later_layers_win() {
    let check = |file, environment: &[_], flags: &[_], expected| {
        assert_eq!(resolved(file, environment, flags).unwrap().port, expected);
    };
    check("", &[], &[], 18_880);
    check("port = 1", &[], &[], 1);
    check("port = 1", &[("AGENTGAZER_PORT", "2")], &[], 2);
    check("port = 1", &[("AGENTGAZER_PORT", "2")], &[("port", "3")], 3);
}

#[test]
fn every_kind_of_value_is_read() {
    let file = r#"
        bind = "::1"
        allow_hosts = ["gazer.test"]
        refusal_status = 403
        evidence_budget = "1MiB"
        [evidence]
        keep_on_disk = false
        [recording]
        agents = ["scribe", "*"]
        keep = "2d"
        max_size = "1MiB"
        [proxy]
        allow_origins = ["https://app.example", "http://localhost:3000"]
        refusal_status.gemini = 409
        [kill_switch]
        enabled = true
        window_size = 7
        threshold = 5
        action = "block"
        [limits]
        idle_timeout = "60s"
        max_connections = 12
        [log]
        format = "json"
        [providers.openai]
        base_url = "http://127.0.0.1:1"
        [providers.mine]
        format = "anthropic"
        base_url = "https://mine.test/api/"
    "#;
    let config =
        resolved(file, &[("AGENTGAZER_TOKEN", "t0ken-of-16-chars")], &[("providers", "openai=http://127.0.0.1:2")])
            .unwrap();
    assert_eq!(config.bind.to_string(), "::1");
    assert_eq!(config.allow_hosts, ["gazer.test"]);
    let origins = ["https://app.example", "http://localhost:3000"].map(|origin| proxy::Origin::parse(origin).unwrap());
    assert_eq!(config.allow_origins, origins);
    let statuses = config.refusal_status.by_format();
    let read = [statuses.openai, statuses.anthropic, statuses.gemini, statuses.ollama].map(|status| status.as_u16());
    assert_eq!(read, [403, 403, 409, 403], "one for all, and one of its own");
    assert_eq!((config.evidence_budget, config.keep_evidence_on_disk), (1 << 20, false));
    let recording = &config.recording;
    assert_eq!((recording.all, recording.agents.len(), recording.max_size), (true, 1, 1 << 20));
    assert_eq!(recording.keep, Duration::from_secs(2 * 24 * 60 * 60));
    let expected =
        KillSwitch { enabled: true, window_size: 7, threshold: 5.0, action: Action::Block, ..Default::default() };
    assert_eq!(config.kill_switch, expected);
    assert_eq!((config.limits.idle_timeout, config.limits.max_connections), (Duration::from_secs(60), 12));
    assert_eq!(config.log.format, LogFormat::Json);
    assert_eq!(config.token.unwrap().expose_secret(), "t0ken-of-16-chars");
    let mut providers: Vec<_> =
        config.providers.into_iter().map(|it| format!("{} {} {}", it.name, it.base_url, it.format)).collect();
    providers.sort();
    assert_eq!(providers, ["mine https://mine.test/api anthropic", "openai http://127.0.0.1:2 openai"]);
}

#[test]
fn all_mistakes_are_reported_with_key_and_origin() {
    let file = "port = \"x\"\nprot = 1\n[limits]\nidle_timeout = 5\n[kill_switch]\nwindow_size = 1\nthreshold = 0\n";
    let environment = [("AGENTGAZER_REFUSAL_STATUS", "200")];
    let flags = [("providers", "mine=http://x"), ("log.format", "xml"), ("token", "spaced out")];
    let mut told = resolved(file, &environment, &flags).map(|_| ()).unwrap_err();
    told.sort();
    assert_eq!(
        told,
        [
            "  kill_switch.threshold must be a number above 0, at most 10000 (agentgazer.toml:7)",
            "  kill_switch.window_size must be a whole number from 2 to 500 (agentgazer.toml:6)",
            "  limits.idle_timeout must be a duration like 500ms, 10s or 5m, not \"5\" (agentgazer.toml:4)",
            "  log.format must be one of text, json, not \"xml\" (--log.format)",
            "  port must be a port from 0 (any free one) to 65535, not \"x\" (agentgazer.toml:1)",
            "  prot is no setting (agentgazer.toml:2)",
            "  providers \"mine\" is no built-in provider, so its format is needed: mine=FORMAT+URL (--providers)",
            "  refusal_status must be a status from 400 to 499, not \"200\" (AGENTGAZER_REFUSAL_STATUS)",
            "  token must have at least 16 characters, all of A-Z a-z 0-9 - . _ ~ + / = (--token)",
        ]
    );
}

#[test]
fn invalid_value_names_the_expected_one() {
    let check = |key: &str, text: &str, is_good: bool| {
        let told = resolved("", &[], &[(key, text), ("smtp.host", "mail.test"), ("smtp.from", "a@x.test")]);
        let told = told.err().unwrap_or_default();
        let is_named = |line: &String| line.starts_with(&format!("  {key} must be")) && line.contains("(--");
        assert_eq!(told.iter().any(is_named), !is_good, "{key} {text:?}: {told:?}");
    };
    for good in ["info", "WARN", "info,proxy=debug", "warn,store::recorder=trace", "proxy=off", "info,[call]=debug"] {
        check("log.level", good, true);
    }
    for bad in ["warning", "loud", "", " ", "proxy", "info,loud", "info,proxy=loud"] {
        check("log.level", bad, false);
    }
    check("proxy.allow_origins", "https://app.example", true);
    for bad in ["app.example", "https://app.example/path", ""] {
        check("proxy.allow_origins", bad, false);
    }
    for good in ["gazer@example.com", "AgentGazer <gazer@example.com>"] {
        check("smtp.from", good, true);
    }
    for bad in ["bad", "", "AgentGazer", "a@x.test\r\nBcc: b@x.test"] {
        check("smtp.from", bad, false);
    }
}

#[test]
fn an_open_address_needs_a_token_of_the_operator() {
    let refused = resolved("", &[], &[("bind", "0.0.0.0")]).map(|_| ()).unwrap_err();
    assert!(refused[0].starts_with("  token must be set") && refused[0].contains("AGENTGAZER_TOKEN"), "{refused:?}");
    assert!(refused[0].ends_with("(--bind)"), "{refused:?}");
    assert!(resolved("", &[], &[("bind", "0.0.0.0"), ("token", "a-secret-of-the-operator")]).is_ok());
}

#[test]
fn short_token_is_refused_with_a_random_suggestion() {
    let refused = |token: &str| resolved("", &[], &[("token", token)]).err().unwrap_or_default();
    let told = refused("a").concat();
    assert!(
        told.starts_with("  token must have at least 16 characters, not 1") && told.ends_with("(--token)"),
        "{told}"
    );
    let offered = told.split_whitespace().rev().nth(1).unwrap();
    assert_eq!(offered.len(), 64, "{told}");
    assert!(!refused("b").concat().contains(offered), "each offer is a fresh one");
    assert!(refused("fifteen-letters").concat().starts_with("  token must have"));
    assert!(refused(offered).is_empty() && refused("sixteen-letters-").is_empty());
    let told = refused("spaced out");
    assert_eq!(told.len(), 1, "an unreadable token is told once: {told:?}");
}

#[test]
fn contradictions_are_reported_unless_one_setting_is_unreadable() {
    let check = |file: &str, flags: &[(&str, &str)], expected: &[(&str, &str)]| {
        let told = resolved(file, &[], flags).map(|_| ()).unwrap_err();
        let is_told = |line: &String, (start, end): &(&str, &str)| line.starts_with(start) && line.ends_with(end);
        let all_told = told.iter().zip(expected).all(|(line, expected)| is_told(line, expected));
        assert!(told.len() == expected.len() && all_told, "{told:?}");
    };
    let prot = ("  prot is no setting", "(agentgazer.toml:1)");
    check(
        "prot = 1\nbind = \"0.0.0.0\"\n[smtp]\nhost = \"mail.test\"\n",
        &[("smtp.password", "secret"), ("proxy_port", "18880")],
        &[
            prot,
            ("  smtp.from must be set: mails need both", "(agentgazer.toml:4)"),
            ("  smtp.username must be set: a login needs both", "(--smtp.password)"),
            ("  token must be set, because 0.0.0.0", "(agentgazer.toml:2)"),
            ("  proxy_port must not be the port of the dashboard", "(--proxy_port)"),
        ],
    );
    let [bind, host] = [("bind", "0.0.0.0"), ("smtp.host", "mail.test")];
    check("prot = 1", &[bind, ("token", "spaced out")], &[prot, ("  token must have", "(--token)")]);
    check("prot = 1", &[host, ("smtp.from", "bad")], &[prot, ("  smtp.from must be an address", "(--smtp.from)")]);
    let told = resolved("token \"forgot the sign\"", &[], &[bind]).map(|_| ()).unwrap_err();
    assert!(!told.iter().any(|line| line.contains("must be set")), "the line may have set it: {told:?}");
}

#[test]
fn the_two_ports_differ_unless_both_are_free_to_choose() {
    assert!(resolved("", &[], &[("port", "1"), ("proxy_port", "1")]).is_err());
    assert!(resolved("", &[], &[("port", "0"), ("proxy_port", "0")]).is_ok());
}

#[test]
fn the_data_directorys_own_file_cannot_move_it() {
    let told = resolved("data_dir = \"/elsewhere\"", &[], &[]).map(|_| ()).unwrap_err();
    assert!(told[0].contains("cannot be set in the data directory's own file"), "{told:?}");
}

#[test]
fn a_named_file_must_exist() {
    let sources = Sources {
        file: Some("/nowhere/at/all.toml".into()),
        environment: Vec::new(),
        flags: Vec::new(),
        known: &[],
        default_data_dir: "/nowhere".into(),
        for_server: true,
    };
    let Mistakes(mistakes) = resolve(sources).map(|_| ()).unwrap_err();
    assert_eq!(mistakes[0].key, "config");
}

#[test]
fn the_default_data_directory_is_the_platforms() {
    let with = |pairs: &'static [(&str, &str)]| {
        default_data_dir(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string()))
    };
    assert_eq!(with(&[]), None);
    if cfg!(target_os = "linux") {
        assert_eq!(with(&[("HOME", "/home/ada")]), Some("/home/ada/.local/share/agentgazer".into()));
        assert_eq!(with(&[("HOME", "/home/ada"), ("XDG_DATA_HOME", "/data")]), Some("/data/agentgazer".into()));
        assert_eq!(
            with(&[("HOME", "/home/ada"), ("XDG_DATA_HOME", "relative")]),
            Some("/home/ada/.local/share/agentgazer".into())
        );
    }
}
