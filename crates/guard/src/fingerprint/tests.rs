//! Tests of whole fingerprints.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use model::{Answered, ToolCall};

use super::*;

fn of(asked: &Asked<'_>) -> RequestPrint {
    of_request("conversation", XxHash3_64::oneshot(b"{}"), asked, of_prompt(asked))
}

fn with_call<'a>(arguments: &'a str, result: &'a str) -> Asked<'a> {
    let call = ToolCall { name: "search".into(), arguments: arguments.into() };
    Asked { tool_calls: vec![call], tool_results: vec![result.into()], ..Asked::default() }
}

#[test]
fn content_parts_count_like_a_plain_string() {
    let plain = Asked { prompt: vec!["look  at\nthis".into()], ..Asked::default() };
    let parts = Asked { prompt: vec!["look at".into(), "this".into()], ..Asked::default() };
    assert_eq!(of(&plain), of(&parts));
}

#[test]
fn an_attachment_is_part_of_the_prompt() {
    let with =
        |attachments: Vec<&'static str>| Asked { prompt: vec!["what is it".into()], attachments, ..Asked::default() };
    let prompts =
        [vec![], vec!["{1}"], vec!["{2}"], vec!["{1}", "{2}"], vec!["{2}", "{1}"]].map(|them| of(&with(them)));
    for (index, one) in prompts.iter().enumerate() {
        for other in &prompts[index + 1..] {
            assert!(one.prompt.unwrap().distance(other.prompt.unwrap()) > 5);
            assert_ne!(one.turn, other.turn);
        }
    }
    assert!(prompts[0].prompt_is_short);
    assert!(!prompts[1].prompt_is_short, "the same picture again is strong evidence");
    let picture = of(&Asked { attachments: vec!["{1}"], ..Asked::default() });
    assert!(picture.prompt.is_some() && of(&Asked::default()).prompt.is_none());
}

#[test]
fn a_turn_is_known_by_its_own_message() {
    let asks = |prompt: &'static str, turn_message: Option<&'static str>| {
        let turn_message = turn_message.map(|message| vec![message.into()]);
        of(&Asked { prompt: vec![prompt.into()], turn_message, ..Asked::default() })
    };
    let (first, later) = (asks("Fix it", None), asks("Remember the rules", Some("Fix it")));
    assert_eq!(first.turn, later.turn);
    assert_ne!(first.prompt, later.prompt, "the formula compares what the user wrote last");
}

#[test]
fn short_texts() {
    let is_short = |text: &'static str| of(&Asked { prompt: vec![text.into()], ..Asked::default() }).prompt_is_short;
    let done = "Please continue. If the task is complete, reply with DONE.";
    for short in ["continue", "<returncode>0</returncode>\n<output>\n</output>", "yes, go on please", "请继续", done]
    {
        assert!(is_short(short), "{short}");
    }
    let fourteen = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
    for long in [fourteen, &"x".repeat(96).leak()[..], "请继续完成这个任务吧,不要停下来"] {
        assert!(!is_short(long), "{long}");
    }
}

#[test]
fn a_complaint_is_not_short_and_the_first_message_is_no_complaint() {
    let complaint = "Error: your patch is empty, so nothing was applied. Try again.";
    let at = |turn_position| of(&Asked { prompt: vec![complaint.into()], turn_position, ..Asked::default() });
    assert!(at(1).prompt_is_error && !at(1).prompt_is_short);
    assert!(!at(0).prompt_is_error && at(0).prompt_is_short);
}

#[test]
fn a_signature_is_the_name_and_the_canonical_arguments() {
    let tools = |arguments, result| of(&with_call(arguments, result)).tools.unwrap();
    let step = tools(r#"{"page": 1, "query": "x"}"#, "3 results");
    assert_eq!(step.adaptive, tools(r#"{"query":"x","page":1}"#, "4 results").adaptive);
    let next = tools(r#"{"page": 2, "query": "x"}"#, "none");
    assert_eq!(step.literal, next.literal);
    assert_ne!(step.adaptive, next.adaptive);
    assert_ne!(step.result.shape, next.result.shape);
    assert_eq!(tools("{broken", "a"), tools(" {broken ", "a"));
    assert_eq!(tools("", "a"), tools("{}", "a"));
    assert_ne!(tools("{broken", "a").adaptive, tools("{}", "a").adaptive);
}

#[test]
fn the_newest_step_is_the_tool_step_or_the_newest_message() {
    let newest = |asked: &Asked<'_>| of(asked).step.newest;
    let call = with_call(r#"{"a":1}"#, "x");
    let marked = Asked { newest_message: r#"{"cache_control":{}}"#, ..call.clone() };
    assert_eq!(newest(&call), newest(&marked), "clients mark messages");
    assert_ne!(newest(&call), newest(&with_call(r#"{"a":1}"#, "y")));
    let message = |newest_message| Asked { newest_message, ..Asked::default() };
    assert_ne!(newest(&message("{1}")), newest(&message("{2}")));
}

#[test]
fn a_response_is_its_words_and_its_calls() {
    let answer = |text: &str, arguments: &'static str| {
        let call = ToolCall { name: "click".into(), arguments: arguments.into() };
        of_answer(&Answered { text: text.to_owned(), tool_calls: vec![call] }).unwrap()
    };
    let one = answer("Let me see.", r#"{"element": 242}"#);
    let other = answer("Let me see.", r#"{"element":247}"#);
    assert_eq!(one.literal, other.literal);
    assert!(one.adaptive.distance(other.adaptive) > 5);
    assert!(one.is_short);
    assert_eq!(of_answer(&Answered::default()), None);
}

/// Stored hashes are compared with new ones: these never change.
#[test]
fn hashes_are_the_same_in_every_release() {
    let mut asked = with_call(r#"{"page":1}"#, "nothing found");
    asked.prompt = vec!["Find order 5".into()];
    let print = of(&asked);
    let tools = print.tools.unwrap();
    let request = [0x05a8_6108_0a76_802b, 0x1349_cde1_2770_5c16, 0xb4d6_23c5_b2a9_7a09, 0x7651_b827_2bc5_3bf5];
    assert_eq!([print.conversation.0, print.body, print.turn.message, print.step.newest], request);
    assert_eq!([tools.literal, tools.adaptive], [0xfba9_4d34_e8eb_4a3c, 0x267d_d40b_6ea0_f71d]);
    let result = [tools.result.shape, tools.result.kept, tools.result.gist];
    assert_eq!(result, [0x93bc_dcd6, 0x93bc_dcd6, 0x6e6f_6e65]);
}
