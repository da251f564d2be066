//! Which conversation a call belongs to.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName};
use model::{Asked, Continues};
use wire::{conversation_of, is_side_call};

fn check(headers: &[(&str, &str)], expected: &str) {
    let asked = Asked { session: Some("from-body".into()), ..Asked::default() };
    assert_eq!(conversation_of(&map(headers), &asked), expected, "{headers:?}");
}

fn map(headers: &[(&str, &str)]) -> HeaderMap {
    headers.iter().map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap())).collect()
}

#[test]
fn client_ids_separate_conversations() {
    check(&[], "from-body");
    check(&[("x-agentgazer-session-id", "ours"), ("x-claude-code-session-id", "claude")], "ours");
    check(&[("x-claude-code-session-id", "claude"), ("x-session-id", "other")], "claude");
    check(&[("x-claude-code-session-id", "claude"), ("x-claude-code-agent-id", "sub")], "claude/sub");
    check(&[("user-agent", "codex_cli_rs/0.166.0"), ("session-id", "s"), ("thread-id", "t")], "s/t");
    check(&[("user-agent", "codex_cli_rs/0.166.0"), ("session-id", "s"), ("thread-id", "s")], "s");
    check(&[("user-agent", "codex_cli_rs/0.90"), ("session_id", "s"), ("conversation_id", "s")], "s");
    check(&[("user-agent", "Codex/1"), ("thread-id", "t"), ("x-openai-subagent", "review")], "t/review");
    check(&[("user-agent", "curl/8"), ("session-id", "s")], "from-body");
    check(&[("x-litellm-session-id", "l"), ("x-litellm-trace-id", "t")], "t");
    check(&[("helicone-session-id", "h"), ("x-session-id", "x")], "h");
    check(&[("x-portkey-trace-id", "p")], "p");
    check(&[("x-session-id", "x"), ("x-parent-session-id", "parent-0001")], "x");
    check(&[("x-acme-session-id", "abc_DEF-123"), ("x-zoo-session-id", "zzzzzzzz")], "abc_DEF-123");
    check(&[("x-acme-session-id", "short"), ("x-parent-session-id", "parent-0001")], "from-body");
    check(&[("baggage", "user.id=u, session.id=b-1;p=1,x=y")], "b-1");
    check(&[("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")], "from-body");
    check(&[("x-session-id", " ")], "from-body");
}

#[test]
fn conversation_ids_are_truncated() {
    let long = "a".repeat(300);
    check(&[("x-session-id", &long)], &long[..128]);
    check(&[("x-session-id", "a b\tc")], "abc");
    let both = format!("{}/{}", &long[..63], &long[..64]);
    check(&[("x-claude-code-session-id", &long), ("x-claude-code-agent-id", &long)], &both);
}

#[test]
fn first_user_message_names_the_conversation() {
    let of = |pieces: &[&'static str]| {
        let first: Vec<Cow<'_, str>> = pieces.iter().map(|piece| (*piece).into()).collect();
        let alone = Asked { prompt: first.clone(), ..Asked::default() };
        let followed = Asked { first_user_message: Some(first), prompt: vec!["And now?".into()], ..Asked::default() };
        let [alone, followed] = [alone, followed].map(|asked| conversation_of(&HeaderMap::new(), &asked));
        assert_eq!(alone, followed);
        alone
    };
    // Stored and shown: this name never changes.
    assert_eq!(of(&["Fix the build"]), "first-c1b2fa57129ba630");
    assert_ne!(of(&["a", "b"]), of(&["ab"]));
}

#[test]
fn calls_after_an_unknown_answer_share_a_conversation() {
    let asked = |continues| Asked { continues: Some(continues), ..Asked::default() };
    let of = |asked: &Asked<'_>| conversation_of(&HeaderMap::new(), asked);
    assert_eq!(of(&asked(Continues::Answer("resp_1".into()))), "resp_1");
    assert_eq!(of(&asked(Continues::Conversation("conv_1".into()))), "conv_1");
}

#[test]
fn codex_housekeeping_is_a_side_call() {
    let check = |headers: &[(&str, &str)], expected| assert_eq!(is_side_call(&map(headers)), expected, "{headers:?}");
    check(&[("user-agent", "codex_cli_rs/1"), ("x-openai-subagent", "compact")], true);
    check(&[("user-agent", "codex_cli_rs/1"), ("x-openai-subagent", "memory_consolidation")], true);
    check(&[("user-agent", "codex_cli_rs/1"), ("x-openai-subagent", "review")], false);
    check(&[("user-agent", "curl/8"), ("x-openai-subagent", "compact")], false);
    check(&[("user-agent", "codex_cli_rs/1")], false);
}

#[test]
fn people_who_begin_alike_have_conversations_of_their_own() {
    let of = |person: Option<&'static str>, words: &'static str| {
        let asked = Asked { prompt: vec![words.into()], person: person.map(Into::into), ..Asked::default() };
        conversation_of(&HeaderMap::new(), &asked)
    };
    assert_eq!(of(Some("ada"), "Hi"), of(Some("ada"), "Hi"));
    assert_ne!(of(Some("ada"), "Hi"), of(Some("bob"), "Hi"));
    assert_ne!(of(Some("ada"), "Hi"), of(Some("ada"), "Bye"));
    assert!(of(Some("ada"), "Hi").starts_with("user-") && of(None, "Hi").starts_with("first-"));
}
