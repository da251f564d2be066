//! Which conversation a call belongs to.

use http::{HeaderMap, HeaderName};
use model::Asked;
use wire::conversation_of;

fn check(headers: &[(&str, &str)], expected: &str) {
    let asked = Asked { session: Some("from-body".into()), ..Asked::default() };
    let map: HeaderMap =
        headers.iter().map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse().unwrap())).collect();
    assert_eq!(conversation_of(&map, &asked), expected, "{headers:?}");
}

#[test]
fn what_clients_send_tells_conversations_apart() {
    check(&[], "from-body");
    check(&[("x-agentgazer-session-id", "ours"), ("x-claude-code-session-id", "claude")], "ours");
    check(&[("x-claude-code-session-id", "claude"), ("x-session-id", "other")], "claude");
    check(&[("x-claude-code-session-id", "claude"), ("x-claude-code-agent-id", "sub")], "claude/sub");
    check(&[("user-agent", "codex_cli_rs/0.166.0"), ("session-id", "s"), ("thread-id", "t")], "s");
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
fn ids_are_cut() {
    let long = "a".repeat(300);
    check(&[("x-session-id", &long)], &long[..128]);
    check(&[("x-session-id", "a b\tc")], "abc");
    let both = format!("{}/{}", &long[..63], &long[..64]);
    check(&[("x-claude-code-session-id", &long), ("x-claude-code-agent-id", &long)], &both);
}

#[test]
fn else_the_first_user_message_names_it() {
    let of = |pieces: &[&'static str]| {
        let first_user_message = pieces.iter().map(|piece| (*piece).into()).collect();
        conversation_of(&HeaderMap::new(), &Asked { first_user_message, ..Asked::default() })
    };
    // Stored and shown: this name never changes.
    assert_eq!(of(&["Fix the build"]), "first-c1b2fa57129ba630");
    assert_ne!(of(&["a", "b"]), of(&["ab"]));
}
